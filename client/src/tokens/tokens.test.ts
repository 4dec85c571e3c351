import { readFileSync } from 'node:fs'
import { deflateSync, inflateSync } from 'node:zlib'
import { signAsync } from '@noble/secp256k1'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type Attestation,
  attestationDigest,
  attestationUid,
  domainSeparator,
  MAINNET_DOMAIN,
  NO_BYTES32,
  schemaUid,
  structHash,
} from './attestation.ts'
import { fromHex, toHex } from './bytes.ts'
import {
  checksumAddress,
  type Domain,
  decodeAttendance,
  EVENT_ATTENDANCE_SCHEMA,
  EVENT_ATTENDANCE_UID,
  encodeAttendance,
  explorerLink,
  isAddress,
  NO_ADDRESS,
  packageJson,
  readDomain,
  readExplorerLink,
  readPackage,
  recoverSigner,
  type Trust,
  uuidBytes32,
  uuidOfBytes32,
  type Verification,
  verifyToken,
} from './index.ts'

/** What the public library made of fixed keys, times and salts. */
interface Vectors {
  readonly keys: Readonly<Record<'issuer1' | 'issuer2', { privateKey: string; address: string }>>
  readonly schemas: readonly { schema: string; resolver: string; revocable: boolean; uid: string }[]
  readonly dataExamples: readonly {
    values: Readonly<Record<'eventName' | 'eventLocation' | 'eventID' | 'checkInTime' | 'ticketID', string>>
    encoded: string
  }[]
  readonly attestations: readonly {
    name: string
    version: number
    domainSeparator: string
    structHash: string
    digest: string
    key: 'issuer1' | 'issuer2'
    package: PackageFields
    compact: readonly unknown[]
    linkFragment: string
    strict: string
  }[]
  readonly broken: readonly {
    name: string
    why: string
    valid: boolean
    strict: string
    trustedDomain: unknown
    package: PackageFields
  }[]
  readonly published: Readonly<Record<string, { package: PackageFields; digest: string }>>
}
interface PackageFields {
  readonly signer: string
  readonly sig: {
    readonly uid: string
    readonly domain: unknown
    readonly message: { readonly schema: string }
    readonly signature: unknown
  }
}

const vectors: Vectors = JSON.parse(readFileSync(new URL('./vectors.json', import.meta.url), 'utf8'))
const READABLE = vectors.attestations.filter(({ version }) => version !== 0)
const TOKEN = vectors.attestations[0]!
const TIME_S = 1_804_273_200
const NOW_MS = TIME_S * 1000
const ISSUER = { address: vectors.keys.issuer1.address, state: 'active' as const }

function trustIn(pack: PackageFields, changes: Partial<Trust> = {}): Trust {
  return {
    issuers: Object.values(vectors.keys).map(({ address }) => ({ address, state: 'active' })),
    nowMs: NOW_MS,
    domain: domainOf(pack.sig.domain),
    schemas: [pack.sig.message.schema],
    ...changes,
  }
}

function domainOf(value: unknown): Domain {
  const domain = readDomain(value)
  if (!domain) throw new Error('a vector has no domain')
  return domain
}

test.each(READABLE)('what the public library made is genuine: $name', (vector) => {
  const { domainSeparator: separator, structHash: hash, digest, key, package: pack } = vector
  const { signed } = readPackage(pack)
  if (!signed) throw new Error('not read')
  const { domain, attestation, signature, uid } = signed
  expect(toHex(domainSeparator(domain))).toBe(separator)
  expect(toHex(structHash(attestation))).toBe(hash)
  expect(toHex(attestationDigest(domain, attestation))).toBe(digest)
  expect(attestationUid(attestation)).toBe(uid)
  expect([attestation].map(attestationUid as (one: typeof attestation) => string)).toEqual([uid])
  expect(recoverSigner(fromHex(digest), signature)).toBe(vectors.keys[key].address.toLowerCase())
  // Expired ones had not expired when they were made
  const { verdict, reason } = verifyToken(pack, trustIn(pack))
  const isAttendance = attestation.schema === EVENT_ATTENDANCE_UID
  // One is signed as it should be, but has no data: it says nothing about an event
  if (isAttendance && !decodeAttendance(attestation.data))
    expect([verdict, reason]).toEqual(['not ours', 'schema'])
  else expect(verdict).toBe(vector.strict === 'valid' ? 'genuine' : 'damaged')
})

test('a legacy attestation is not a token of ours: its version is not in its signature', () => {
  const legacy = vectors.attestations.find(({ version }) => version === 0)!
  expect(verifyToken(legacy.package, trustIn(legacy.package))).toEqual({
    verdict: 'not ours',
    reason: 'legacy',
  })
})

/** The words of the vectors for what our reasons are called. */
const REASONS: Readonly<Record<string, string>> = {
  'high s': 'high_s',
  'message version': 'message_version',
}

test.each(vectors.broken)('$name: $why', ({ valid, strict, trustedDomain, package: pack }) => {
  const { verdict, reason } = verifyToken(pack, trustIn(pack, { domain: domainOf(trustedDomain) }))
  expect(verdict === 'genuine').toBe(valid)
  const [word = ''] = strict.split(':')
  expect(reason).toBe(valid ? undefined : (REASONS[word] ?? word))
})

test.each(Object.entries(vectors.published))('the attestation that the library documents: %s', (_, known) => {
  const { signed } = readPackage(known.package)
  expect(signed && toHex(attestationDigest(signed.domain, signed.attestation))).toBe(known.digest)
  const trust = trustIn(known.package, { issuers: [{ address: known.package.signer, state: 'active' }] })
  expect(verifyToken(known.package, trust).verdict).toBe('genuine')
})

test('schemas have the names of the public registry', () => {
  for (const { schema, resolver, revocable, uid } of vectors.schemas)
    expect(schemaUid(schema, resolver, revocable)).toBe(uid)
  expect(schemaUid(EVENT_ATTENDANCE_SCHEMA, NO_ADDRESS, true)).toBe(EVENT_ATTENDANCE_UID)
})

test('an attendance is encoded as by the public library, and read again', () => {
  for (const { values, encoded } of vectors.dataExamples) {
    const attendance = { ...values, checkInTime: BigInt(values.checkInTime) }
    expect(encodeAttendance(attendance)).toBe(encoded)
    expect(decodeAttendance(encoded)).toEqual(attendance)
  }
})

test('texts with half of a character, ids of other lengths and times of other sizes are not encoded', () => {
  const good = {
    eventName: 'a',
    eventLocation: '1,2',
    eventID: NO_BYTES32,
    checkInTime: 1n,
    ticketID: NO_BYTES32,
  }
  for (const bad of [
    { eventName: 'a\ud800' },
    { eventLocation: '\udc00' },
    { eventID: '0x00' },
    { ticketID: `${NO_BYTES32}00` },
    { checkInTime: -1n },
    { checkInTime: 2n ** 64n },
  ])
    expect(() => encodeAttendance({ ...good, ...bad })).toThrow(RangeError)
})

test('any attendance is read as it was written, and other bytes are not', () => {
  const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(toHex)
  const attendances = fc.record({
    eventName: fc.string({ unit: 'binary', maxLength: 80 }),
    eventLocation: fc.string({ unit: 'binary', maxLength: 80 }),
    eventID: bytes32,
    checkInTime: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    ticketID: bytes32,
  })
  fc.assert(
    fc.property(attendances, fc.nat(), (attendance, at) => {
      const data = encodeAttendance(attendance)
      expect(decodeAttendance(data)).toEqual(attendance)
      const bytes = fromHex(data)
      bytes[at % bytes.length]! ^= 1
      expect(decodeAttendance(toHex(bytes))).not.toEqual(attendance)
    }),
    { seed: 1, numRuns: 30 },
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      decodeAttendance(toHex(bytes))
    }),
    { seed: 1, numRuns: 50 },
  )
})

test('a UUID is the first half of 32 bytes', () => {
  fc.assert(
    fc.property(fc.uuid(), (uuid) => {
      expect(uuidOfBytes32(uuidBytes32(uuid))).toBe(uuid)
    }),
    { seed: 1, numRuns: 50 },
  )
  expect(uuidOfBytes32(`0x${'1'.repeat(64)}`)).toBeUndefined()
  expect(() => uuidBytes32('0x12')).toThrow(RangeError)
})

test('holders learn why: expired, revoked, another issuer, another time of the key', () => {
  const verdictOf = (changes: Partial<Trust>, { verdict, reason } = verify(changes)) => [verdict, reason]
  const verify = (changes: Partial<Trust>): Verification =>
    verifyToken(TOKEN.package, { issuers: [ISSUER], nowMs: NOW_MS, ...changes })
  expect(verdictOf({})).toEqual(['genuine', undefined])
  expect(verify({}).attendance).toMatchObject({ eventName: 'Harbour Lights Opening' })
  expect(
    verdictOf({
      isRevoked: (uid, signer) => uid === TOKEN.package.sig.uid && signer === ISSUER.address.toLowerCase(),
    }),
  ).toEqual(['revoked', undefined])
  expect(verdictOf({ issuers: [{ ...ISSUER, address: vectors.keys.issuer2.address }] })).toEqual([
    'not ours',
    'signer',
  ])
  expect(verdictOf({ issuers: [{ ...ISSUER, state: 'retired', until: TIME_S }] })).toEqual([
    'not ours',
    'key_time',
  ])
  expect(verdictOf({ issuers: [{ ...ISSUER, state: 'retired', until: TIME_S + 1 }] })).toEqual([
    'genuine',
    undefined,
  ])
  expect(verdictOf({ issuers: [{ ...ISSUER, from: TIME_S + 1 }] })).toEqual(['not ours', 'key_time'])
  const stolen = { ...ISSUER, state: 'compromised' as const }
  const isLogged = (uid: string) => uid === TOKEN.package.sig.uid
  const withdrawn = TIME_S + 1
  expect(verdictOf({ issuers: [{ ...stolen, withdrawn }] })).toEqual(['not ours', 'compromised'])
  expect(verdictOf({ issuers: [{ ...stolen, withdrawn }], isLogged })).toEqual(['genuine', undefined])
  // Without the time of the theft, nothing shows that the log had the token before
  expect(verdictOf({ issuers: [stolen], isLogged })).toEqual(['not ours', 'compromised'])
  expect(verdictOf({ nowMs: NOW_MS - 300_000 })).toEqual(['genuine', undefined])
  expect(verdictOf({ nowMs: NOW_MS - 301_000 })).toEqual(['damaged', 'future'])
  expect(verdictOf({ schemas: [NO_BYTES32] })).toEqual(['not ours', 'schema'])
})

test('a token expires, and one that cannot be revoked is not', async () => {
  const data = readPackage(TOKEN.package).signed!.attestation
  const expiring = await sign({ ...data, expirationTime: BigInt(TIME_S) + 1n })
  const trust = { issuers: [ISSUER], nowMs: NOW_MS }
  expect(verifyToken(expiring, { ...trust, nowMs: NOW_MS + 999 }).verdict).toBe('genuine')
  expect(verifyToken(expiring, { ...trust, nowMs: NOW_MS + 1000 }).verdict).toBe('expired')
  const fixed = await sign({ ...data, revocable: false })
  expect(verifyToken(fixed, { ...trust, isRevoked: () => true }).verdict).toBe('genuine')
})

test('a token whose data are not those of its schema says nothing, so it is not ours', async () => {
  const data = readPackage(TOKEN.package).signed!.attestation
  const empty = verifyToken(await sign({ ...data, data: '0x' }), { issuers: [ISSUER], nowMs: NOW_MS })
  expect(empty).toMatchObject({ verdict: 'not ours', reason: 'schema' })
  expect(empty).not.toHaveProperty('attendance')
})

/** Wrong JSON types and lengths, by the path of the field. */
const WRONG_FIELDS: readonly (readonly [string, unknown])[] = [
  ['message.revocable', 'false'],
  ['message.revocable', 1],
  ['message.time', '01804273200'],
  ['message.time', -1],
  ['message.time', 1.5],
  ['message.time', '18446744073709551616'],
  ['message.expirationTime', null],
  ['message.recipient', '0x2430B3BE1c4092fe11e011cB0f1AB3AFe6A3B37E'],
  ['message.refUID', '0x00'],
  ['message.data', '0x0'],
  ['message.data', 'zz'],
  ['message.salt', undefined],
  ['message.more', 1],
  ['domain.salt', NO_BYTES32],
  ['domain.chainId', '0x1'],
  ['types.EIP712Domain', []],
  ['types.Attest', {}],
  ['primaryType', 'Attestation'],
  ['signature', '0x00'],
  ['signature.r', '0x00'],
  ['signature.v', '28'],
  ['uid', 7],
]
test.each(WRONG_FIELDS)('a package with another %s is refused: %s', (path, value) => {
  const changed = structuredClone(TOKEN.package) as { sig: Record<string, unknown> }
  const keys = path.split('.')
  let fields = changed.sig
  for (const key of keys.slice(0, -1)) fields = fields[key] as Record<string, unknown>
  if (value === undefined) delete fields[keys.at(-1)!]
  else fields[keys.at(-1)!] = value
  expect(verifyToken(changed, { issuers: [ISSUER], nowMs: NOW_MS }).verdict).not.toBe('genuine')
})

test('an attestation of ours is genuine, and with one changed byte it is not', async () => {
  const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map(toHex)
  const attestations = fc.record({
    version: fc.constant(2 as const),
    schema: fc.constant(EVENT_ATTENDANCE_UID),
    recipient: bytes(20),
    time: fc.bigInt({ min: 0n, max: BigInt(TIME_S) }),
    expirationTime: fc.constantFrom(0n, BigInt(TIME_S) + 1n),
    revocable: fc.boolean(),
    refUID: bytes(32),
    data: fc
      .record({ eventName: fc.string({ unit: 'grapheme' }), eventID: bytes(32), ticketID: bytes(32) })
      .map((given) => encodeAttendance({ ...given, eventLocation: '52,-10', checkInTime: BigInt(TIME_S) })),
    salt: bytes(32),
  })
  await fc.assert(
    fc.asyncProperty(attestations, fc.nat(), fc.nat(), async (attestation, field, at) => {
      const pack = await sign(attestation)
      const trust = { issuers: [ISSUER], nowMs: NOW_MS }
      expect(verifyToken(JSON.parse(JSON.stringify(pack)), trust).verdict).toBe('genuine')
      const changed = flipped(pack, field, at)
      expect(['damaged', 'not ours']).toContain(verifyToken(changed, trust).verdict)
      // Also where the uid fits again: the signature does not
      const { signed } = readPackage(changed)
      if (!signed || attestationUid(signed.attestation) === pack.sig.uid) return
      const fitting = packageJson({ ...signed, signer: pack.signer })
      expect(['damaged', 'not ours']).toContain(verifyToken(fitting, trust).verdict)
    }),
    { seed: 1, numRuns: 15, endOnFailure: true },
  )
})

test('no value makes the verifier throw', () => {
  const trust = { issuers: [ISSUER], nowMs: NOW_MS }
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), fc.nat(), (value, other, at) => {
      expect(verifyToken(value, trust).verdict).not.toBe('genuine')
      const keys = Object.keys(TOKEN.package.sig)
      const sig = { ...TOKEN.package.sig, [keys[at % keys.length]!]: other }
      expect(verifyToken({ ...TOKEN.package, sig }, trust).verdict === 'genuine').toBe(false)
    }),
    { seed: 1, numRuns: 200 },
  )
})

test('the link for the public explorer holds what the public library puts in it', async () => {
  for (const { package: pack, compact } of READABLE) {
    const { signed } = readPackage(pack)
    const [, fragment = ''] = (await explorerLink(signed!)).split('#attestation=')
    const text = inflateSync(Buffer.from(decodeURIComponent(fragment), 'base64')).toString()
    const addressesAsWritten = (value: unknown) => (isAddress(value) ? checksumAddress(value) : value)
    expect(JSON.parse(text).map(addressesAsWritten).filter(isGiven)).toEqual(
      compact.map(addressesAsWritten).filter(isGiven),
    )
  }
})

test('a link that the public library made is read as its package, and one of ours as well', async () => {
  for (const { package: pack, linkFragment } of vectors.attestations) {
    const value = await readExplorerLink(`https://base.easscan.org/offchain/url/${linkFragment}`)
    const { signed } = readPackage(pack)
    // Links round such numbers, so what was signed is lost
    if (signed && !Number.isSafeInteger(Number(signed.attestation.expirationTime))) {
      expect(verifyToken(value, trustIn(pack))).toEqual({ verdict: 'damaged', reason: 'message' })
      continue
    }
    expect(verifyToken(value, trustIn(pack))).toEqual(verifyToken(pack, trustIn(pack)))
    if (!signed) continue
    const ofOurs = verifyToken(await readExplorerLink(await explorerLink(signed)), trustIn(pack))
    expect(ofOurs.verdict).toBe(verifyToken(pack, trustIn(pack)).verdict)
  }
})

test('a link without an attestation, or with too much in it, is none', async () => {
  const linkOf = (json: string) => `#attestation=${encodeURIComponent(deflateSync(json).toString('base64'))}`
  for (const link of [
    'https://easscan.org/',
    '#attestation=',
    '#attestation=%',
    '#attestation=AAAA',
    linkOf('{}'),
    linkOf('[1'),
    linkOf(`[${' '.repeat(300_000)}]`),
    `${TOKEN.linkFragment}${' '.repeat(65_536)}`,
  ])
    expect(await readExplorerLink(link), link.slice(0, 40)).toBeUndefined()
  expect(verifyToken(await readExplorerLink(linkOf('[]')), trustIn(TOKEN.package)).verdict).not.toBe(
    'genuine',
  )
})

test('a package is written as the public library writes it', () => {
  for (const { package: pack, name } of READABLE) {
    const { signed } = readPackage(pack)
    const written = JSON.parse(JSON.stringify(packageJson(signed!)))
    if (name !== 'v2-base-lowercase') expect(written).toEqual(pack)
  }
})

function isGiven(value: unknown): boolean {
  return value !== null && value !== undefined
}

async function sign(attestation: Attestation) {
  const key = fromHex(vectors.keys.issuer1.privateKey)
  const digest = attestationDigest(MAINNET_DOMAIN, attestation)
  const bytes = await signAsync(digest, key, { prehash: false, format: 'recovered' })
  const signature = { v: 27 + bytes[0]!, r: toHex(bytes.subarray(1, 33)), s: toHex(bytes.subarray(33)) }
  return packageJson({ domain: MAINNET_DOMAIN, attestation, signature, signer: ISSUER.address })
}

/** The package with one bit changed in one of its fields of bytes. */
function flipped(pack: Awaited<ReturnType<typeof sign>>, field: number, at: number): unknown {
  const changed = JSON.parse(JSON.stringify(pack))
  const { message, signature } = changed.sig
  const names = ['schema', 'recipient', 'refUID', 'data', 'salt']
  const places = [
    ...names.map((name) => [message, name]),
    [signature, 'r'],
    [signature, 's'],
    [changed.sig, 'uid'],
  ]
  const [fields, name] = places[field % places.length]!
  const bytes = fromHex(fields[name])
  bytes[at % bytes.length]! ^= 1 << (at % 8)
  fields[name] = toHex(bytes)
  return changed
}
