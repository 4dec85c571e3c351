import {
  type Attestation,
  attestationUid,
  EVENT_ATTENDANCE_UID,
  encodeAttendance,
  fromHex,
  MAINNET_DOMAIN,
  NO_BYTES32,
  packageJson,
  type SignedAttestation,
  toHex,
  uuidBytes32,
} from '@landpass/client/tokens'
import { keccak256 } from '../../../../ethereum/keccak256.ts'

/** What the message of a token is made of: stored with the claim, and never changed. */
export interface TokenMessage {
  readonly id: string
  readonly eventUuid: string
  /** The holder, in lower case. */
  readonly address: string
  /** In seconds. */
  readonly timeS: number
  readonly eventName: string
  readonly eventLocation: string
  readonly salt: Uint8Array
}

/** The attestation that is signed. The same message always gives the same one. */
export function attestationOf(message: TokenMessage): Attestation {
  const time = BigInt(message.timeS)
  return {
    version: 2,
    schema: EVENT_ATTENDANCE_UID,
    recipient: message.address,
    time,
    expirationTime: 0n,
    revocable: true,
    refUID: NO_BYTES32,
    data: encodeAttendance({
      eventName: message.eventName,
      eventLocation: message.eventLocation,
      eventID: uuidBytes32(message.eventUuid),
      checkInTime: time,
      ticketID: uuidBytes32(message.id),
    }),
    salt: toHex(message.salt),
  }
}

/** The uid of an attestation, as 32 bytes. */
export function uidBytes(attestation: Attestation): Buffer {
  return Buffer.from(fromHex(attestationUid(attestation, { hash: keccak256 })))
}

/** A token with its signature: r, s and v in 65 bytes. */
export function signedToken(
  message: TokenMessage,
  { signer, signature }: { readonly signer: string; readonly signature: Uint8Array },
): SignedAttestation {
  const attestation = attestationOf(message)
  return {
    uid: attestationUid(attestation, { hash: keccak256 }),
    domain: MAINNET_DOMAIN,
    attestation,
    signature: {
      r: toHex(signature.subarray(0, 32)),
      s: toHex(signature.subarray(32, 64)),
      v: signature[64]!,
    },
    signer,
  }
}

/** What public tools read. */
export function tokenPackage(
  message: TokenMessage,
  signed: { readonly signer: string; readonly signature: Uint8Array },
) {
  return packageJson(signedToken(message, signed))
}
