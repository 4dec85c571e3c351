/** An answer that may be shown again as long as the server confirms it. */
export interface StoredAnswer {
  readonly etag: string
  readonly body: string | Uint8Array
}

/** Where a client keeps answers by their address, to ask next time whether they still hold. */
export interface EtagStore {
  get(url: string): StoredAnswer | undefined | Promise<StoredAnswer | undefined>
  set(url: string, answer: StoredAnswer): void | Promise<void>
}

const DEFAULT_MAX_BYTES = 16_000_000
const BYTES_OF_A_CHARACTER = 2

/**
 * Keeps answers in memory; when they are too many, those go first that were not asked for the longest.
 *
 * @param options.maxBytes of all bodies and addresses together, about; a larger answer is not kept
 * @example
 * createClient({ baseUrl: 'http://localhost:3000', etags: memoryEtagStore() })
 */
export function memoryEtagStore(options: { readonly maxBytes?: number } = {}): EtagStore {
  const { maxBytes = DEFAULT_MAX_BYTES } = options
  /** The one that was used last is at the end. */
  const held = new Map<string, StoredAnswer>()
  let bytes = 0

  const drop = (url: string) => {
    const answer = held.get(url)
    if (!answer) return
    bytes -= sizeOf(url, answer)
    held.delete(url)
  }
  return {
    get: (url) => {
      const answer = held.get(url)
      if (answer) {
        held.delete(url)
        held.set(url, answer)
      }
      return answer
    },
    set: (url, answer) => {
      drop(url)
      const size = sizeOf(url, answer)
      if (size > maxBytes) return
      for (const oldest of held.keys()) {
        if (bytes + size <= maxBytes) break
        drop(oldest)
      }
      held.set(url, answer)
      bytes += size
    },
  }
}

function sizeOf(url: string, { body, etag }: StoredAnswer): number {
  const characters = url.length + etag.length + (typeof body === 'string' ? body.length : 0)
  return characters * BYTES_OF_A_CHARACTER + (typeof body === 'string' ? 0 : body.length)
}
