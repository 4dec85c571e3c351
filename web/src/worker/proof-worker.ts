import { NonceSearch } from '@landpass/client'

/** A slice of the search for a proof of work. */
export interface ProofSlice {
  readonly challenge: string
  readonly bits: number
  readonly first: number
  readonly count: number
}

declare const self: DedicatedWorkerGlobalScope

let search: { readonly challenge: string; readonly nonces: NonceSearch } | undefined

/** Answers each slice with its first fitting nonce, or undefined. */
self.addEventListener('message', ({ data }: MessageEvent<ProofSlice>) => {
  const { challenge, bits, first, count } = data
  if (search?.challenge !== challenge) search = { challenge, nonces: new NonceSearch(challenge) }
  self.postMessage(search.nonces.find(bits, first, count))
})
