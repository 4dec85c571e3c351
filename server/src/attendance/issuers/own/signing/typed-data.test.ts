import {
  attestationDigest,
  EVENT_ATTENDANCE_UID,
  encodeAttendance,
  MAINNET_DOMAIN,
  NO_BYTES32,
  packageJson,
  toHex,
  uuidBytes32,
  verifyToken,
} from '@landpass/client/tokens'
import { expect, test } from 'vitest'
import { findAnvil, startAnvil } from '../../../../../test/support/chain/anvil.ts'
import { addressOf, signDigest } from '../../../../ethereum/signatures.ts'

/** The first account of every such node: for tests alone, and known to everybody. */
const KEY = Buffer.from('ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80', 'hex')
const TIME_S = 1_804_273_200
const DOMAIN_TYPE = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
]

const anvil = findAnvil()

/** Both sign with RFC 6979, so equal bytes mean the same hash of the same fields, in both directions. */
test.skipIf('reason' in anvil)(
  'a live node signs the typed data of our package with the same bytes as we, and we verify what it signed',
  async () => {
    const node = await startAnvil('program' in anvil ? anvil.program : '')
    const signer = addressOf(KEY)
    const attestation = {
      version: 2 as const,
      schema: EVENT_ATTENDANCE_UID,
      recipient: '0x2430b3be1c4092fe11e011cb0f1ab3afe6a3b37e',
      time: BigInt(TIME_S),
      expirationTime: 0n,
      revocable: true,
      refUID: NO_BYTES32,
      data: encodeAttendance({
        eventName: 'Größe · 港の灯り',
        eventLocation: '52,-10',
        eventID: uuidBytes32('6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11'),
        checkInTime: BigInt(TIME_S),
        ticketID: uuidBytes32('0c9f2a44-58f2-4d0f-8d5a-0d4cbb3a7a10'),
      }),
      salt: `0x${'5a'.repeat(32)}`,
    }
    const { r, s, v } = signDigest(attestationDigest(MAINNET_DOMAIN, attestation), KEY)
    const signature = { r: toHex(r), s: toHex(s), v }
    const made = packageJson({ domain: MAINNET_DOMAIN, attestation, signature, signer })
    const { domain, primaryType, types, message } = made.sig
    const typed = { domain, primaryType, types: { EIP712Domain: DOMAIN_TYPE, ...types }, message }

    const answer = String(await node.call('eth_signTypedData_v4', signer, typed))
    const parts = /^0x(.{64})(.{64})(..)$/.exec(answer) ?? []
    const theirs = { r: `0x${parts[1]}`, s: `0x${parts[2]}`, v: Number.parseInt(parts[3] ?? '', 16) }
    expect(theirs).toEqual(signature)
    const pack = { ...made, sig: { ...made.sig, signature: theirs } }
    const trust = { issuers: [{ address: signer, state: 'active' as const }], nowMs: TIME_S * 1000 }
    expect(verifyToken(JSON.parse(JSON.stringify(pack)), trust).verdict).toBe('genuine')
  },
)
