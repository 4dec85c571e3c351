import { recoverAddress } from '../../ethereum/signatures.ts'
import { BusyThread, type BusyThreadOptions } from '../busy-thread.ts'

/** A text, and a signature of it in hex. */
export interface SignedText {
  readonly text: string
  readonly signature: string
}

/** The address that signed a text, in lower case; undefined for a malformed signature. */
export type RecoverSigner = (signed: SignedText) => Promise<string | undefined> | string | undefined

/** {@link RecoverSigner} on the calling thread. */
export function recoverSigner({ text, signature }: SignedText): string | undefined {
  return recoverAddress(text, signature)
}

/** Recovers signers, many of them in a thread: they are half of the CPU time of accepting a claim. */
export type SignatureRecovery = BusyThread<SignedText, string | undefined>

export function newSignatureRecovery(options?: BusyThreadOptions): SignatureRecovery {
  const script = new URL('./recovery-thread.js', import.meta.url)
  return new BusyThread({ run: recoverSigner, script }, options)
}
