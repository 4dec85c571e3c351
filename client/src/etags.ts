/** A cached answer, which is used again while the server confirms its ETag. */
export interface StoredAnswer {
  readonly etag: string
  readonly body: string | Uint8Array
}

/** A cache of answers by address. The client revalidates them with their ETag. */
export interface EtagStore {
  get(url: string): StoredAnswer | undefined | Promise<StoredAnswer | undefined>
  set(url: string, answer: StoredAnswer): void | Promise<void>
}

const DEFAULT_MAX_BYTES = 16_000_000
const BYTES_OF_A_CHARACTER = 2

/**
 * A cache of answers in memory. The least recently used answers are dropped first.
 *
 * @param options.maxBytes limit of all bodies and addresses together, approximate; a larger answer is not cached
 * @example
 * createClient({ baseUrl: 'http://localhost:3000', etags: memoryEtagStore() })
 */
export function memoryEtagStore(options: { readonly maxBytes?: number } = {}): EtagStore {
  const { maxBytes = DEFAULT_MAX_BYTES } = options
  /** In order of use: the most recently used answer is the last. */
  const cached = new Map<string, StoredAnswer>()
  let bytes = 0

  const drop = (url: string) => {
    const answer = cached.get(url)
    if (!answer) return
    bytes -= sizeOf(url, answer)
    cached.delete(url)
  }
  return {
    get: (url) => {
      const answer = cached.get(url)
      if (answer) {
        cached.delete(url)
        cached.set(url, answer)
      }
      return answer
    },
    set: (url, answer) => {
      drop(url)
      const size = sizeOf(url, answer)
      if (size > maxBytes) return
      for (const oldest of cached.keys()) {
        if (bytes + size <= maxBytes) break
        drop(oldest)
      }
      cached.set(url, answer)
      bytes += size
    },
  }
}

function sizeOf(url: string, { body, etag }: StoredAnswer): number {
  const characters = url.length + etag.length + (typeof body === 'string' ? body.length : 0)
  return characters * BYTES_OF_A_CHARACTER + (typeof body === 'string' ? 0 : body.length)
}
