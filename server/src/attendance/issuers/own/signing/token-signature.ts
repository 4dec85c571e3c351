import { type Attestation, attestationDigest, MAINNET_DOMAIN } from '@landpass/client/tokens'
import { keccak256 } from '../../../../ethereum/keccak256.ts'
import { signDigest } from '../../../../ethereum/signatures.ts'
import { attestationOf, type TokenMessage, uidBytes } from './token-message.ts'

export interface TokenSignature {
  /** 32 bytes. */
  readonly uid: Uint8Array
  /** r, s and v: 65 bytes. */
  readonly signature: Uint8Array
}

/**
 * Signs the message of a token, with a private key of 32 bytes. The same message and key always give the same bytes.
 *
 * @throws for 32 bytes that are not a key
 */
export function signToken(message: TokenMessage, key: Uint8Array): TokenSignature {
  const attestation = attestationOf(message)
  return { uid: uidBytes(attestation), signature: signAttestation(attestation, key) }
}

/**
 * Signs an attestation over our domain: r, s and v as 65 bytes. The same attestation and key always give the same bytes.
 *
 * @throws for 32 bytes that are not a key
 */
export function signAttestation(attestation: Attestation, key: Uint8Array): Buffer {
  const { r, s, v } = signDigest(attestationDigest(MAINNET_DOMAIN, attestation, { hash: keccak256 }), key)
  return Buffer.concat([r, s, Buffer.of(v)])
}
