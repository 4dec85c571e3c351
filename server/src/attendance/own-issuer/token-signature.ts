import { attestationDigest, MAINNET_DOMAIN } from '@landpass/client/tokens'
import { keccak256 } from '../../ethereum/keccak256.ts'
import { signDigest } from '../../ethereum/signatures.ts'
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
  const { r, s, v } = signDigest(attestationDigest(MAINNET_DOMAIN, attestation, { hash: keccak256 }), key)
  const signature = new Uint8Array(65)
  signature.set(r)
  signature.set(s, 32)
  signature[64] = v
  return { uid: uidBytes(attestation), signature }
}
