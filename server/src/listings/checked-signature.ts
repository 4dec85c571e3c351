import { recoverSigner } from '../ethereum/signatures.ts'
import { walletCall } from '../ethereum/wallet-call.ts'
import { hashOfHex } from './trade-digest.ts'

/** What a signature says by itself, and what only its signer can say. */
export interface CheckedSignature {
  /** Whether the key of the signer signed exactly this. */
  readonly isSigned: boolean
  /** Where it did not: the call that asks the signer, if it is a contract, whether it did. */
  readonly walletCall: string | null
  /** Keccak of the signature, 32 bytes in hex. */
  readonly signatureHash: string
}

/** @param digest what was signed, 32 bytes */
export function checkSignature(
  digest: Uint8Array,
  { signer, signature }: { readonly signer: string; readonly signature: string },
): CheckedSignature {
  const isSigned = recoverSigner(digest, signature) === signer
  const signatureHash = `0x${hashOfHex([signature.slice(2)])}`
  return { isSigned, walletCall: isSigned ? null : walletCall(digest, signature), signatureHash }
}
