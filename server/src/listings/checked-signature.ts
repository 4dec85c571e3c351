import { recoverSigner } from '../ethereum/signatures.ts'
import { walletCall } from '../ethereum/wallet-call.ts'

/** What a signature says by itself, and what only its signer can say. */
export interface CheckedSignature {
  /** Whether the key of the signer signed exactly this. */
  readonly isSigned: boolean
  /** Where it did not: the call that asks the signer, if it is a contract, whether it did. */
  readonly walletCall: string | null
}

/** @param digest what was signed, 32 bytes */
export function checkSignature(
  digest: Uint8Array,
  { signer, signature }: { readonly signer: string; readonly signature: string },
): CheckedSignature {
  const isSigned = recoverSigner(digest, signature) === signer
  return { isSigned, walletCall: isSigned ? null : walletCall(digest, signature) }
}
