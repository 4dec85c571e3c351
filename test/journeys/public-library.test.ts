import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type IssuerKey, verifyToken } from '@landpass/client/tokens'
import {
  type AttendanceServer,
  type OutsideWorld,
  playerAt,
  startAttendance,
  startOutsideWorld,
} from '@landpass/server/test/support/attendance/attendance-server'
import {
  answerOf,
  readShortVerifier,
  type ShortVerifier,
} from '@landpass/server/test/support/attendance/short-verifier'
import { describeOnOneEngine, emptyDir } from '@landpass/server/test/support/database/engines'
import { REFERENCE_TIME_MS, testClock } from '@landpass/server/test/support/http/land-server'
import {
  AbiCoder,
  getAddress,
  solidityPackedKeccak256,
  TypedDataEncoder,
  verifyTypedData,
  Wallet,
  ZeroAddress,
  ZeroHash,
} from 'ethers'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'

/** Off-chain attestations as the public tools know them, written here a second time: nothing of our own encodes or hashes. */
const DOMAIN = {
  name: 'EAS Attestation',
  version: '0.26',
  chainId: '1',
  verifyingContract: '0xA1207F3BBa224E2c9c3c6D5aF63D0eb1582Ce587',
}
const TYPES = {
  Attest: [
    { name: 'version', type: 'uint16' },
    { name: 'schema', type: 'bytes32' },
    { name: 'recipient', type: 'address' },
    { name: 'time', type: 'uint64' },
    { name: 'expirationTime', type: 'uint64' },
    { name: 'revocable', type: 'bool' },
    { name: 'refUID', type: 'bytes32' },
    { name: 'data', type: 'bytes' },
    { name: 'salt', type: 'bytes32' },
  ],
}
const SCHEMA = 'string eventName,string eventLocation,bytes32 eventID,uint64 checkInTime,bytes32 ticketID'
const SCHEMA_UID = solidityPackedKeccak256(['string', 'address', 'bool'], [SCHEMA, ZeroAddress, true])
const DATA_TYPES = ['string', 'string', 'bytes32', 'uint64', 'bytes32']
const PLACE = { x: 10, y: 20 }
const NAMES = ['Größe · 港の灯り', 'A 🎈 "party", with \\ and {}', 'a']
const TIME_S = Math.floor(REFERENCE_TIME_MS / 1000)

interface Message {
  readonly version: number
  readonly schema: string
  readonly recipient: string
  readonly time: string
  readonly expirationTime: string
  readonly revocable: boolean
  readonly refUID: string
  readonly data: string
  readonly salt: string
}
interface Package {
  readonly sig: {
    readonly version: number
    readonly uid: string
    readonly domain: object
    readonly primaryType: string
    readonly types: typeof TYPES
    readonly message: Message
    readonly signature: { readonly v: number; readonly r: string; readonly s: string }
  }
  readonly signer: string
}

function uidOf(message: Message): string {
  const { version, schema, recipient, time, expirationTime, revocable, refUID, data, salt } = message
  // The schema counts as text; the address of the attester and the number at the end are always zero
  return solidityPackedKeccak256(
    [
      ...['uint16', 'string', 'address', 'address', 'uint64', 'uint64', 'bool', 'bytes32', 'bytes'],
      ...['bytes32', 'uint32'],
    ],
    [version, schema, recipient, ZeroAddress, time, expirationTime, revocable, refUID, data, salt, 0],
  )
}

async function packageOf(wallet: Wallet, message: Message): Promise<Package> {
  const signature = await wallet.signTypedData(DOMAIN, TYPES, message)
  const [, r, s, v] = /^0x(.{64})(.{64})(..)$/.exec(signature) ?? []
  return {
    sig: {
      version: 2,
      uid: uidOf(message),
      domain: DOMAIN,
      primaryType: 'Attest',
      types: TYPES,
      message,
      signature: { r: `0x${r}`, s: `0x${s}`, v: Number.parseInt(v!, 16) },
    },
    signer: wallet.address,
  }
}

/** The address that signed a package, as the public library recovers it. */
function signerOf({ sig: { domain, types, message, signature } }: Package): string {
  return verifyTypedData(domain, types, message, signature)
}

describeOnOneEngine('a token, beside a public library that signs and verifies', (open) => {
  const keyFile = join(emptyDir(), 'token.key')
  const wallet = new Wallet(`0x${'1b'.repeat(32)}`)
  let outside: OutsideWorld
  let server: AttendanceServer
  let short: ShortVerifier

  beforeAll(async () => {
    writeFileSync(keyFile, wallet.privateKey.slice(2), { mode: 0o600 })
    const of = { TOKEN_KEY_FILE: keyFile, EVENT_MAKERS: 'anyone', LIMIT_EVENTS_PER_MINUTE: '0' }
    outside = await startOutsideWorld()
    short = await readShortVerifier()
    server = await startAttendance(await open(), testClock(), outside, of)
    return () => server.close()
  })

  /** A token of an event with this name, as a player gets it from the server. */
  async function claimed(name: string) {
    const start_date = new Date(REFERENCE_TIME_MS).toISOString().slice(0, 10)
    const made = await server.send('POST', '/events', { name, coordinates: '10,20', start_date, tokens: 1 })
    expect(made.status, made.text).toBe(200)
    const { uuid } = (made.body.data as unknown as { event: { uuid: string } }).event
    const player = await playerAt(outside, `public library ${name}`, PLACE, REFERENCE_TIME_MS)
    expect((await server.claim(uuid, player)).status).toBe(200)
    const listed = (await server.get(`/addresses/${player.address}/tokens`)).body.data as unknown as {
      tokens: { id: string }[]
    }
    const { id } = listed.tokens[0]!
    const pack = (await server.get(`/tokens/${id}/attestation`)).body as unknown as Package
    return { id, uuid, player, pack }
  }

  /** What the published keys of the server make of a package. */
  async function verdictOf(pack: unknown): Promise<string> {
    const { body } = await server.get('/.well-known/attendance-issuers.json')
    const { issuers } = body as unknown as { issuers: IssuerKey[] }
    const keys = issuers.map(({ address, state }) => ({ address, state }))
    return verifyToken(pack, { issuers: keys, nowMs: REFERENCE_TIME_MS }).verdict
  }

  test.each(NAMES)('the library verifies what a server of ours made: %s', async (name) => {
    const { id, uuid, player, pack } = await claimed(name)
    const { domain, types, message, uid, signature } = pack.sig

    expect({ domain, types, schema: message.schema }).toEqual({
      ...{ domain: DOMAIN, types: TYPES, schema: SCHEMA_UID },
    })
    expect(signerOf(pack)).toBe(wallet.address)
    expect([pack.signer, message.recipient]).toEqual([wallet.address, getAddress(player.address)])
    expect(uid).toBe(uidOf(message))
    expect((await packageOf(wallet, message)).sig.signature, 'the same bytes').toEqual(signature)
    const idBytes = (text: string) => `0x${text.replaceAll('-', '')}${'0'.repeat(32)}`
    expect(AbiCoder.defaultAbiCoder().decode(DATA_TYPES, message.data).toArray()).toEqual([
      ...[name, '10,20', idBytes(uuid), BigInt(TIME_S), idBytes(id)],
    ])
    for (const changed of changesOf(pack)) expect(answerOf(() => isGoodFor(changed))).toBe(false)
  })

  test('our verifiers accept what the library signed, and nothing that was changed since', async () => {
    const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(hexOf)
    const messages = fc.record({
      version: fc.constant(2),
      schema: fc.constant(SCHEMA_UID),
      recipient: fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => getAddress(hexOf(bytes))),
      time: fc.constant(String(TIME_S)),
      expirationTime: fc.constantFrom('0', String(TIME_S + 1)),
      revocable: fc.boolean(),
      refUID: fc.constant(ZeroHash),
      data: fc
        .record({ name: fc.string({ unit: 'grapheme' }), event: bytes32, ticket: bytes32 })
        .map(({ name, event, ticket }) =>
          AbiCoder.defaultAbiCoder().encode(DATA_TYPES, [name, '52,-10', event, TIME_S, ticket]),
        ),
      salt: bytes32,
    })
    const check = async (message: Message) => {
      const pack = await packageOf(wallet, message)
      expect(await verdictOf(pack)).toBe('genuine')
      expect(short.isSignedBy(wallet.address, DOMAIN, pack)).toBe(true)
      for (const changed of changesOf(pack)) {
        expect(await verdictOf(changed)).not.toBe('genuine')
        expect(answerOf(() => short.isSignedBy(wallet.address, DOMAIN, changed))).toBe(false)
      }
      // Where the uid fits again, the signature does not
      const other = { ...message, recipient: getAddress(`0x${'7'.repeat(40)}`) }
      const refitted = { ...pack, sig: { ...pack.sig, message: other, uid: uidOf(other) } }
      expect(await verdictOf(refitted)).toBe('damaged')
      expect(short.isSignedBy(wallet.address, DOMAIN, refitted)).toBe(false)
    }
    await fc.assert(fc.asyncProperty(messages, check), { seed: 1, numRuns: 5, endOnFailure: true })
  })

  test('what the library signs with another key or for another chain is not ours', async () => {
    const { pack } = await claimed('Another key')
    const stranger = await packageOf(new Wallet(`0x${'2c'.repeat(32)}`), pack.sig.message)
    expect(await verdictOf(stranger)).toBe('not ours')
    expect(short.isSignedBy(wallet.address, DOMAIN, stranger)).toBe(false)
    const ofBase = { ...DOMAIN, chainId: '8453' }
    expect(TypedDataEncoder.hash(ofBase, TYPES, pack.sig.message)).not.toBe(
      TypedDataEncoder.hash(DOMAIN, TYPES, pack.sig.message),
    )
    const elsewhere = { ...pack, sig: { ...pack.sig, domain: ofBase } }
    expect(await verdictOf(elsewhere)).toBe('not ours')
    expect(signerOf(elsewhere)).not.toBe(wallet.address)
  })

  /** As a program decides that has the public library alone. */
  function isGoodFor(pack: Package): boolean {
    return signerOf(pack) === wallet.address && pack.sig.uid === uidOf(pack.sig.message)
  }
})

/** The package with one signed value changed, once for each value. */
function changesOf(pack: Package): readonly Package[] {
  const { sig } = pack
  const { message, signature } = sig
  const flip = (hex: string) => `${hex.slice(0, -1)}${hex.endsWith('0') ? '1' : '0'}`
  const changed: readonly Partial<Message>[] = [
    { version: 1 },
    { schema: flip(message.schema) },
    { recipient: getAddress(flip(message.recipient.toLowerCase())) },
    { time: String(Number(message.time) - 1) },
    { expirationTime: String(Number(message.expirationTime) + 100) },
    { revocable: !message.revocable },
    { refUID: flip(message.refUID) },
    { data: flip(message.data) },
    { salt: flip(message.salt) },
  ]
  return [
    ...changed.map((fields) => ({ ...pack, sig: { ...sig, message: { ...message, ...fields } } })),
    { ...pack, sig: { ...sig, uid: flip(sig.uid) } },
    { ...pack, sig: { ...sig, signature: { ...signature, r: flip(signature.r) } } },
    { ...pack, sig: { ...sig, signature: { ...signature, s: flip(signature.s) } } },
    { ...pack, sig: { ...sig, signature: { ...signature, v: 55 - signature.v } } },
  ]
}

function hexOf(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`
}
