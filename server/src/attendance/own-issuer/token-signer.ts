import { BusyThread, type BusyThreadOptions } from '../busy-thread.ts'
import { type SigningTask, signToken, type TokenSignature } from './token-signature.ts'

/** Signs tokens, many of them in a thread. */
export type TokenSigner = BusyThread<SigningTask, TokenSignature>

export function newTokenSigner(options?: BusyThreadOptions): TokenSigner {
  const script = new URL('./signing-thread.js', import.meta.url)
  return new BusyThread({ run: signToken, script, copy: copyOf }, options)
}

/** A message to a thread takes a copy of all memory that an array of bytes is a part of: here it is a part of nothing. */
function copyOf({ message, key }: SigningTask): SigningTask {
  return { message: { ...message, salt: Uint8Array.from(message.salt) }, key: Uint8Array.from(key) }
}
