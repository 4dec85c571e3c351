import { recoverAddress } from '../../ethereum/signatures.ts'
import { BusyThread, type BusyThreadOptions } from '../../work/busy-thread.ts'

/** A text, a signature of it in hex, and the address that is said to have signed it, in lower case. */
export interface NamedSignature {
  readonly text: string
  readonly signature: string
  readonly signer: string
}

/** Whether each text was signed by the address that is named. */
export type CheckSigners = (signatures: readonly NamedSignature[]) => Promise<boolean> | boolean

/** {@link CheckSigners} on the calling thread. After a wrong signature it looks at no other; of none, all are right. */
export function areSignedAsNamed(signatures: readonly NamedSignature[]): boolean {
  return signatures.every(({ text, signature, signer }) => recoverAddress(text, signature) === signer)
}

/** Checks signers, many of them in a thread: the signatures are a quarter of the CPU time of a claim. */
export type SignerCheck = BusyThread<readonly NamedSignature[], boolean>

export function newSignerCheck(options?: BusyThreadOptions): SignerCheck {
  const script = new URL('./signer-check-thread.js', import.meta.url)
  return new BusyThread({ run: areSignedAsNamed, script }, options)
}
