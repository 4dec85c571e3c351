import type { Transport } from '../transport.ts'
import { timerMs } from '../wait.ts'

const DEFAULT_TIMEOUT_MS = 30_000

export interface FetchTransportOptions {
  /**
   * Longest time in milliseconds without data: before an answer begins, and between two pieces of its body. Slow
   * requests end earlier with an error of the server; this is for broken networks. 30 s if left out; `Infinity` for no
   * limit.
   */
  readonly timeoutMs?: number
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch
}

/**
 * Sends requests with `fetch`, in browsers and Node.js. Sends no cookies and follows no redirects.
 *
 * @example
 * const transport = fetchTransport({ timeoutMs: 10_000 })
 * createClient({ baseUrl: 'http://localhost:3000', transport })
 */
export function fetchTransport(options: FetchTransportOptions = {}): Transport {
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = options
  return async ({ method, url, headers, body, signal }) => {
    const watch = new IdleTimeout(timeoutMs, signal)
    try {
      const send = options.fetch ?? fetch // looked up for each request: tests and pages may replace the global one
      const response = await watch.during(
        send(url, {
          method,
          headers,
          credentials: 'omit',
          // The redirect itself is the answer: it is not from a Landpass server, but from a network's sign-in page for instance.
          redirect: 'manual',
          // Images and tile data may be used for minutes without asking. With an ETag, browsers ask anyway.
          ...(method === 'GET' && !('if-none-match' in headers) && { cache: 'no-cache' as const }),
          signal: watch.signal,
          ...(body !== undefined && { body }),
        }),
      )
      if (!response.body) watch.end()
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: response.body ? streamPieces(response.body, watch) : '',
      }
    } catch (error) {
      watch.end()
      throw error
    }
  }
}

/** A `ReadableStream` is an async iterable in newer browsers only. */
async function* streamPieces(
  stream: ReadableStream<Uint8Array>,
  watch: IdleTimeout,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await watch.during(reader.read())
      if (done) return
      yield value
    }
  } finally {
    watch.end()
    // Closes the connection if the caller stops early. A failed stream rejects here again with the same error.
    await reader.cancel().catch(() => undefined)
  }
}

/** Aborts a request with the signal of its caller, and when no data arrive for too long. */
class IdleTimeout {
  private readonly controller = new AbortController()
  private readonly timeoutMs: number
  private readonly callerSignal: AbortSignal | undefined
  private readonly pass = () => this.controller.abort(this.callerSignal?.reason)

  constructor(timeoutMs: number, callerSignal: AbortSignal | undefined) {
    this.timeoutMs = timeoutMs
    this.callerSignal = callerSignal
    if (callerSignal?.aborted) this.pass()
    else callerSignal?.addEventListener('abort', this.pass)
  }

  get signal(): AbortSignal {
    return this.controller.signal
  }

  async during<Result>(waiting: Promise<Result>): Promise<Result> {
    if (this.timeoutMs === Number.POSITIVE_INFINITY) return waiting
    const timer = setTimeout(
      () => this.controller.abort(new DOMException('The server sent no data for too long.', 'TimeoutError')),
      timerMs(this.timeoutMs),
    )
    try {
      return await waiting
    } finally {
      clearTimeout(timer)
    }
  }

  end(): void {
    this.callerSignal?.removeEventListener('abort', this.pass)
  }
}
