import { makePlayer, PREVIEW_REALM, type RequestToSign } from '@landpass/simulators/player/player'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  CLIENT_VECTORS,
  incomingRequest,
  SIGNING_VECTORS,
  vectorNamed,
} from '../../../test/support/attendance/signing-vectors.ts'
import { runs } from '../../../test/support/run/property-seed.ts'
import { MINUTE_MS, SECOND_MS } from '../../clock.ts'
import { AppError } from '../../errors.ts'
import { addressOf, signText } from '../../ethereum/signatures.ts'
import type { IncomingRequest, SignedRequest } from './signed-request.ts'
import { areSignedAsNamed, type NamedSignature } from './signer-check.ts'
import { type VerifyOptions, verifySignature } from './verify-signature.ts'

const NOW_MS = SIGNING_VECTORS.now
const OPTIONS = { nowMs: NOW_MS, windowMs: MINUTE_MS }
const METADATA = 'x-identity-metadata'
const TIMESTAMP = 'x-identity-timestamp'
const CHAIN = ['x-identity-auth-chain-0', 'x-identity-auth-chain-1', 'x-identity-auth-chain-2'] as const
const BODY = '{"address":"0xAB","captcha":"h7kq2"}'
const CLAIM_PATH = '/claim/6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11'
const PLAYER = makePlayer('ann')
const WALLET = Buffer.alloc(32, 1)
const KEY = Buffer.alloc(32, 2)

/** The error codes of the vectors that must be refused. */
const REASONS: Readonly<Record<string, string>> = {
  'two minutes old': 'signature_expired',
  'one hour in the future': 'signature_expired',
  'delegation expired one second ago': 'signature_expired',
  'contract-wallet link type': 'contract_wallet_unsupported',
  'signer of the client itself, not of a scene': 'wrong_signer',
}

describe('the published table', () => {
  for (const vector of SIGNING_VECTORS.vectors) {
    test(`${vector.expect}: ${vector.name}`, async () => {
      const outcome = await outcomeOf(incomingRequest(vector))

      if (vector.expect === 'refuse') expect(outcome).toBe(REASONS[vector.name] ?? 'bad_signature')
      else
        expect(outcome).toMatchObject({
          address: SIGNING_VECTORS.player,
          isPreview: false,
          isGuest: false,
          isBodySigned: true,
        })
    })
  }

  test('has all its rows', async () => {
    expect(SIGNING_VECTORS.vectors).toHaveLength(26)
  })
})

test('requests of the clients of today are read as they are, and say whether the body is covered', async () => {
  const options = { ...OPTIONS, nowMs: CLIENT_VECTORS.now }
  const outcomes = new Map<string, unknown>()
  for (const vector of CLIENT_VECTORS.vectors) {
    const outcome = await verifySignature(incomingRequest(vector), options).catch(() => 'refuse')
    outcomes.set(vector.name, outcome)
    const { address, bodyCovered: isBodySigned } = vector
    if (vector.expect === 'refuse') expect(outcome, vector.name).toBe('refuse')
    else expect(outcome, vector.name).toMatchObject({ address, isBodySigned })
  }
  expect(outcomes.size).toBe(26)
})

test('both forms of a signature are one request', async () => {
  const first = await verifySignature(incomingRequest(vectorNamed('legacy payload, no body')), OPTIONS)
  const twin = await verifySignature(
    incomingRequest(vectorNamed('same request as the first, signature re-encoded')),
    OPTIONS,
  )

  expect(twin).toEqual(first)
})

test.each(['legacy', 'newer'] as const)(
  'a player of the simulator signs as clients do (%s)',
  async (form) => {
    expect(await outcomeOf(claim({ form }))).toEqual({
      address: PLAYER.address,
      hash: expect.any(Buffer),
      expiresAtMs: NOW_MS + MINUTE_MS,
      isBodySigned: true,
      isPreview: false,
      isGuest: false,
    })
  },
)

test.each(['legacy', 'newer'] as const)(
  'letters beyond ASCII are signed as UTF-8, and arrive as its bytes (%s)',
  async (form) => {
    const request = {
      method: 'POST',
      path: '/captcha',
      atMs: NOW_MS,
      form,
      metadata: { sceneId: 'カフェ “été”' },
    }
    const headers = Object.fromEntries(
      Object.entries(PLAYER.sign(request)).map(([name, value]) => [
        name,
        Buffer.from(value).toString('latin1'),
      ]),
    )

    const incoming = { method: 'POST', path: '/captcha', headers, body: Buffer.alloc(0) }

    expect((await verifySignature(incoming, OPTIONS)).address).toBe(PLAYER.address)
  },
)

test('a request without any signature header is not signed, one with any is badly signed', async () => {
  const bare = { method: 'POST', path: '/captcha', body: Buffer.alloc(0) }

  expect(await outcomeOf({ ...bare, headers: { host: 'localhost' } })).toBe('not_signed')
  for (const name of [TIMESTAMP, METADATA, CHAIN[0], 'x-identity-auth-chain-7']) {
    expect(await outcomeOf({ ...bare, headers: { [name]: 'x' } }), name).toBe('bad_signature')
  }
})

test('the clock of a player may differ by the window, to either side, and the answer says by how much it does', async () => {
  for (const offMs of [-MINUTE_MS, MINUTE_MS])
    expect(await outcomeOf(claim({ atMs: NOW_MS + offMs }))).toBeTypeOf('object')

  expect(await refusalOf(claim({ atMs: NOW_MS - 61 * SECOND_MS }))).toMatchObject({
    code: 'signature_expired',
    message: expect.stringMatching(/from 61 seconds ago; at most 60 are allowed.*clock/),
  })
  // Rounded up: "from 60 seconds ahead; at most 60 are allowed" helps nobody
  expect(await refusalOf(claim({ atMs: NOW_MS + MINUTE_MS + 1 }))).toMatchObject({
    message: expect.stringMatching(/from 61 seconds ahead; at most 60 are allowed/),
  })
  expect(await refusalOf(claim({ atMs: NOW_MS + 2 * MINUTE_MS }))).toMatchObject({
    message: expect.stringMatching(/from 120 seconds ahead/),
  })
  expect(await refusalOf(incomingRequest(vectorNamed('delegation expired one second ago')))).toMatchObject({
    code: 'signature_expired',
    message: 'Your sign-in has expired. Please sign in again.',
  })
})

test('a time must be decimal digits without sign, leading zero or exponent', async () => {
  for (const spelling of [
    `0${NOW_MS}`,
    `+${NOW_MS}`,
    `${NOW_MS}.0`,
    '1.7684784e12',
    `0x${NOW_MS.toString(16)}`,
    '-1',
    '',
    ' ',
  ]) {
    expect(await outcomeOf(withHeader(claim(), TIMESTAMP, spelling)), spelling).toBe('bad_signature')
  }
})

test('headers that are too long, too many or repeated are refused before anything is parsed', async () => {
  const good = claim()
  const spaces = ' '.repeat(9 * 1024)

  for (const name of [...CHAIN, METADATA]) {
    expect(await outcomeOf(withHeader(good, name, `${good.headers[name]}${spaces}`)), name).toBe(
      'bad_signature',
    )
    expect(await outcomeOf(withHeader(good, name, [String(good.headers[name])])), name).toBe('bad_signature')
    expect(
      await outcomeOf(withHeader(good, name, `${good.headers[name]}, ${good.headers[name]}`)),
      name,
    ).toBe('bad_signature')
    expect(await outcomeOf(withHeader(good, name, undefined)), name).toBe('bad_signature')
  }
  for (const name of [
    'x-identity-auth-chain-3',
    'x-identity-auth-chain-00',
    'x-identity-auth-chain-02',
    'x-identity-auth-chain-',
  ]) {
    expect(await outcomeOf(withHeader(good, name, String(good.headers[CHAIN[2]]))), name).toBe(
      'bad_signature',
    )
  }
})

test('links in another order, or doubled, are refused', async () => {
  const { headers, ...rest } = claim()
  const [first, second, third] = CHAIN.map((name) => headers[name])

  for (const links of [
    [second, first, third],
    [first, third, second],
    [first, second, second],
    [first, first, third],
  ]) {
    const swapped = Object.fromEntries(CHAIN.map((name, i) => [name, links[i]]))
    expect(await outcomeOf({ ...rest, headers: { ...headers, ...swapped } })).toBe('bad_signature')
  }
})

test('a body that no hash covers is accepted with isBodySigned false', async () => {
  const withHash = (hashPayload: unknown, body = BODY) =>
    outcomeOf(claim({ body, metadata: { hashPayload } }))

  expect(await withHash(undefined)).toMatchObject({ isBodySigned: false })
  expect(await withHash(undefined, '')).toMatchObject({ isBodySigned: true })
  expect(await withHash('', '')).toMatchObject({ isBodySigned: true })
  // The client signed that there is no body
  for (const wrong of ['', null, 7]) expect(await withHash(wrong), String(wrong)).toBe('bad_signature')
})

test('a preview is recognised by its realm', async () => {
  const realm = (fields: object) => outcomeOf(claim({ metadata: { realm: fields } }))

  expect(await realm(PREVIEW_REALM)).toMatchObject({ isPreview: true })
  expect(await realm({ serverName: 'LocalPreview' })).toMatchObject({ isPreview: true })
  for (const hostname of [
    'localhost',
    'http://127.0.0.1:8000',
    '192.168.1.7:8000',
    '[::1]:8000',
    'LOCALHOST:8000/x',
  ]) {
    expect(await realm({ hostname, serverName: 'main' }), hostname).toMatchObject({ isPreview: true })
  }
  for (const hostname of [
    'realm-provider.decentraland.org',
    'localhost.example.org',
    '10.example.org',
    7,
    null,
  ]) {
    expect(await realm({ hostname, serverName: 'main' }), String(hostname)).toMatchObject({
      isPreview: false,
      isGuest: false,
    })
  }
  for (const odd of [null, 'LocalPreview', []]) {
    expect(await outcomeOf(claim({ metadata: { realm: odd } }))).toMatchObject({ isPreview: false })
  }
})

test.each(['legacy', 'newer'] as const)(
  'a key in another letter case, or a second one, is refused (%s)',
  async (form) => {
    const good = claim({ form })
    const respelled = (from: string, to: string) =>
      outcomeOf(withHeader(good, METADATA, String(good.headers[METADATA]).replace(from, to)))

    expect(await respelled('"signer"', '"Signer"')).toBe('bad_signature')
    expect(await respelled('"hashPayload"', '"hashpayload"')).toBe('bad_signature')
    expect(await respelled('"serverName"', '"servername"')).toBe('bad_signature')
    expect(await respelled('"realm"', '"Realm"')).toBe('bad_signature')
    expect(await respelled('"signer"', '"SIGNER"')).toBe('bad_signature')
    expect(
      await outcomeOf(
        claim({ form, metadata: { signer: 'decentraland-kernel-scene', SIGNER: 'dcl:explorer' } }),
      ),
    ).toBe('bad_signature')
    expect(await outcomeOf(withSignedMetadata('{"Signer":"decentraland-kernel-scene"}', form))).toBe(
      'bad_signature',
    )
  },
)

test.each(['legacy', 'newer'] as const)(
  'a key that stands twice is refused, though JSON would keep the last (%s)',
  async (form) => {
    const outcome = (text: string) => outcomeOf(withSignedMetadata(text, form))
    const signer = '"signer":"decentraland-kernel-scene"'

    for (const text of [
      `{"signer":"dcl:explorer",${signer}}`,
      `{${signer},${signer}}`,
      `{${signer}, "hashPayload" : "" , "hashPayload":""}`,
      `{"\\u0073igner":"dcl:explorer",${signer}}`,
      `{${signer},"realm":{"serverName":"LocalPreview","serverName":"main"}}`,
      `{${signer},"a":[{"b":1,"b":1}]}`,
      `{${signer},"__proto__":1,"__proto__":2}`,
    ])
      expect(await outcome(text), text).toBe('bad_signature')
    for (const text of [
      `{${signer}}`,
      `{ "a" : "\\"b\\":", ${signer}, "c":[ "d", {"d":"e\\\\"}, {"d":"f:"} ] , "g\\"":null }`,
    ])
      expect(await outcome(text), text).toMatchObject({ address: addressOf(WALLET) })
  },
)

test('behind a proxy that removes a prefix from the path, clients sign the path with it', async () => {
  const { method, path, body, headers } = claim({ path: `/attendance${CLAIM_PATH}` })
  const arrived = { method, path: path.replace('/attendance', ''), body, headers }

  expect(await outcomeOf(arrived)).toBe('bad_signature')
  expect((await verifySignature(arrived, { ...OPTIONS, publicPrefix: '/attendance' })).address).toBe(
    PLAYER.address,
  )
  expect((await verifySignature(claim(), { ...OPTIONS, publicPrefix: '/attendance' })).address).toBe(
    PLAYER.address,
  )
})

test('a delegation may have carriage returns; an expiry without a zone is UTC', async () => {
  const good = incomingRequest(vectorNamed('delegation expiry written without zone letter'))
  const withReturns = withHeader(good, CHAIN[1], String(good.headers[CHAIN[1]]).replaceAll('\\n', '\\r\\n'))

  expect(await verifySignature(withReturns, OPTIONS)).toEqual(await verifySignature(good, OPTIONS))
})

test('another player can use neither a delegation nor a signature', async () => {
  const ann = claim()
  const { headers } = signedClaim(makePlayer('bob'), {})
  for (const name of CHAIN)
    expect(await outcomeOf(withHeader(ann, name, headers[name]))).toBe('bad_signature')
  const bobAsAnn = withHeader(withHeader(ann, CHAIN[2], headers[CHAIN[2]]), METADATA, headers[METADATA])
  expect(await outcomeOf(bobAsAnn)).toBe('bad_signature')
})

test('a delegation is checked until its signature was right, and from then on not again', async () => {
  const checked: number[] = []
  const checkSigners = (signatures: readonly NamedSignature[]) => {
    checked.push(signatures.length)
    return areSignedAsNamed(signatures)
  }
  const outcomes = async (request: IncomingRequest) => [
    await outcomeOf(request, { ...OPTIONS, checkSigners }),
    await outcomeOf(request, { ...OPTIONS, checkSigners }),
  ]
  const mallory = signedClaim(makePlayer('mallory'), {})
  const ofOther = withHeader(mallory, CHAIN[0], claim().headers[CHAIN[0]])

  // Mallory's own key signs the request, in the name of another player: only the delegation says that it must not
  expect(await outcomes(ofOther)).toEqual(['bad_signature', 'bad_signature'])
  expect(checked.splice(0)).toEqual([2, 2])
  const { address } = makePlayer('mallory')
  expect(await outcomes(mallory)).toMatchObject([{ address }, { address }])
  expect(checked.splice(0)).toEqual([2, 1])
  expect(await outcomes(ofOther)).toEqual(['bad_signature', 'bad_signature'])
  expect(checked).toEqual([2, 2])
})

describe('a change of any character is refused, unless it means the same', () => {
  for (const form of ['legacy', 'newer'] as const) {
    const good = claim({ form })
    const parts = [...CHAIN, TIMESTAMP, METADATA, 'method', 'path', 'body'] as const
    const mutation = fc.record({
      part: fc.constantFrom(...parts),
      place: fc.nat(2_000),
      kind: fc.constantFrom('replace', 'insert', 'delete', 'recase'),
      char: fc.oneof(
        fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 1 }),
        fc.constantFrom(...'0123456789abcdefABCDEF "\\{}:,'),
      ),
    })

    test(form, async () => {
      const proven = await verifySignature(good, OPTIONS)
      let harmless = 0
      await fc.assert(
        fc.asyncProperty(mutation, async ({ part, place, kind, char }) => {
          const before = textOf(good, part)
          const at = place % before.length
          const after = mutate(before, at, kind, char)
          if (after === before) return
          const outcome = await outcomeOf(withText(good, part, after))
          if (meansTheSame(form, part, before, after)) {
            harmless++
            // Another spelling of the same request: both together can be used once
            expect(outcome).toEqual(proven)
          } else {
            expect(outcome, `${part}: ${after}`).toBeTypeOf('string')
          }
        }),
        { numRuns: runs(800) },
      )
      expect(harmless).toBeGreaterThan(0)
    })
  }
})

test('random headers are refused with an error code, never with another error', async () => {
  const good = claim()
  const huge = fc.constantFrom(
    'x'.repeat(100_000),
    '['.repeat(4_000),
    `{"a":${'['.repeat(1_500)}`,
    '"\\ud800"',
  )
  const link = fc.record(
    {
      type: fc.constantFrom('SIGNER', 'ECDSA_EPHEMERAL', 'ECDSA_SIGNED_ENTITY'),
      payload: fc.string(),
      signature: fc.string(),
    },
    { requiredKeys: [] },
  )
  const value = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.json(),
    fc.constantFrom('null', '[]', '{}', '0', '"x"', undefined),
    huge,
    link.map((fields) => JSON.stringify(fields)),
    fc.array(fc.string(), { maxLength: 3 }),
  )
  const names = fc.constantFrom(...CHAIN, TIMESTAMP, METADATA, 'x-identity-auth-chain-3')
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(names, value, { minKeys: 1, maxKeys: 4 }),
      fc.string(),
      async (headers, path) => {
        expect(await outcomeOf({ ...good, headers: { ...good.headers, ...headers } })).toBeDefined()
        expect(await outcomeOf({ method: path, path, body: Buffer.from(path), headers })).toBeTypeOf('string')
      },
    ),
    { numRuns: runs(200) },
  )
})

test('any metadata with a valid signature is accepted or refused with an error code', async () => {
  const value = fc.oneof(
    fc.json(),
    fc
      .dictionary(fc.constantFrom('signer', 'realm', 'Realm', '__proto__'), fc.jsonValue())
      .map((record) => JSON.stringify(record)),
  )
  await fc.assert(
    fc.asyncProperty(value, fc.constantFrom('legacy' as const, 'newer' as const), async (metadata, form) => {
      expect(await outcomeOf(withSignedMetadata(metadata, form))).toBeTypeOf('string')
    }),
    { numRuns: runs(100) },
  )
})

/** The verified request, or the error code; any other error fails the test. */
async function outcomeOf(
  request: IncomingRequest,
  options: VerifyOptions = OPTIONS,
): Promise<SignedRequest | string> {
  try {
    return await verifySignature(request, options)
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
}

async function refusalOf(request: IncomingRequest): Promise<unknown> {
  try {
    return await verifySignature(request, OPTIONS)
  } catch (error) {
    return error
  }
}

function claim(change: Partial<RequestToSign> = {}): IncomingRequest {
  return signedClaim(PLAYER, change)
}

function signedClaim(player: typeof PLAYER, change: Partial<RequestToSign>): IncomingRequest {
  const request = { method: 'POST', path: CLAIM_PATH, body: BODY, atMs: NOW_MS, ...change }
  const { method, path, body } = request
  return { method, path, body: Buffer.from(body ?? ''), headers: player.sign(request) }
}

/** A request with a valid signature and any metadata. */
function withSignedMetadata(metadata: string, form: 'legacy' | 'newer'): IncomingRequest {
  const delegation = `Decentraland Login\nEphemeral address: ${addressOf(KEY)}\nExpiration: 2026-02-14T12:00:00Z`
  const newer = `post:/captcha:${NOW_MS}:${metadata}`
  const text = form === 'newer' ? newer : newer.toLowerCase()
  const links = [
    { type: 'SIGNER', payload: addressOf(WALLET), signature: '' },
    { type: 'ECDSA_EPHEMERAL', payload: delegation, signature: signText(delegation, WALLET) },
    { type: 'ECDSA_SIGNED_ENTITY', payload: text, signature: signText(text, KEY) },
  ]
  const chain = Object.fromEntries(CHAIN.map((name, i) => [name, JSON.stringify(links[i])]))
  const headers = { ...chain, [TIMESTAMP]: String(NOW_MS), [METADATA]: metadata }
  return { method: 'POST', path: '/captcha', body: Buffer.alloc(0), headers }
}

function withHeader(
  request: IncomingRequest,
  name: string,
  value: string | readonly string[] | undefined,
): IncomingRequest {
  return { ...request, headers: { ...request.headers, [name]: value } }
}

/** A header, or another signed part. */
function textOf(request: IncomingRequest, part: string): string {
  if (part === 'method' || part === 'path') return request[part]
  return String(part === 'body' ? request.body : request.headers[part])
}

function withText(request: IncomingRequest, part: string, text: string): IncomingRequest {
  if (part === 'method' || part === 'path') return { ...request, [part]: text }
  return part === 'body' ? { ...request, body: Buffer.from(text) } : withHeader(request, part, text)
}

function mutate(text: string, at: number, kind: string, char: string): string {
  const before = text.slice(0, at)
  const old = text.charAt(at)
  const after = text.slice(at + 1)
  switch (kind) {
    case 'replace':
      return before + char + after
    case 'insert':
      return before + char + old + after
    case 'delete':
      return before + after
    default:
      return before + (old === old.toLowerCase() ? old.toUpperCase() : old.toLowerCase()) + after
  }
}

/** Changes that the format allows: letter case in some parts, and blanks in the JSON of a link. */
function meansTheSame(form: 'legacy' | 'newer', part: string, before: string, after: string): boolean {
  const isRecased = before.toLowerCase() === after.toLowerCase()
  if (part === 'method' || part === 'path') return isRecased
  if (part === 'body' || part === TIMESTAMP) return false
  const [was, is] = [parseOrUndefined(before), parseOrUndefined(after)]
  if (part === METADATA) return form === 'legacy' && isRecased && isSameMetadata(was, is)
  return (
    is?.type === was?.type &&
    (part === CHAIN[0] ? lower(is?.payload) === lower(was?.payload) : is?.payload === was?.payload) &&
    lower(is?.signature) === lower(was?.signature)
  )
}

/** The older form does not protect letter case; the fields that the server uses are compared exactly. */
function isSameMetadata(was: Json | undefined, is: Json | undefined): boolean {
  return (
    is !== undefined &&
    keysOf(is) === keysOf(was) &&
    keysOf(is.realm) === keysOf(was?.realm) &&
    is.signer === was?.signer &&
    is.hashPayload === was?.hashPayload
  )
}

type Json = Readonly<Record<string, unknown>>

function parseOrUndefined(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function keysOf(value: unknown): string {
  return Object.keys(value ?? {}).join()
}

function lower(value: unknown): unknown {
  return typeof value === 'string' ? value.toLowerCase() : value
}
