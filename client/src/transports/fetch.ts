import type { Transport } from '../transport.ts'
import { timerMs } from '../wait.ts'

const DEFAULT_TIMEOUT_MS = 30_000

export interface FetchTransportOptions {
  /**
   * Longest silence in milliseconds: until an answer begins, and between two pieces of its body. The server gives up
   * earlier, with a sentence; this is for networks that say nothing. 30 s if left out; `Infinity` for no limit.
   */
  readonly timeoutMs?: number
  /** In place of the global `fetch`. */
  readonly fetch?: typeof fetch
}

/**
 * Sends requests with `fetch`: in browsers, in Node.js and wherever else there is one. Sends no cookies and follows no
 * redirects.
 *
 * @example
 * const transport = fetchTransport({ timeoutMs: 10_000 })
 * createClient({ baseUrl: 'http://localhost:3000', transport })
 */
export function fetchTransport(options: FetchTransportOptions = {}): Transport {
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = options
  return async ({ method, url, headers, body, signal }) => {
    const watch = new SilenceWatch(timeoutMs, signal)
    try {
      const send = options.fetch ?? fetch // looked up now: tests and pages may have put another one in its place
      const response = await watch.during(
        send(url, {
          method,
          headers,
          credentials: 'omit',
          redirect: 'error',
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
  watch: SilenceWatch,
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
    // Closes the connection where the reader stops early. Of a stream that has failed the reader knows already.
    await reader.cancel().catch(() => undefined)
  }
}

/** Aborts a request when its caller does, and when the server has been silent for too long. */
class SilenceWatch {
  private readonly controller = new AbortController()
  private readonly timeoutMs: number
  private readonly callers: AbortSignal | undefined
  private readonly pass = () => this.controller.abort(this.callers?.reason)

  constructor(timeoutMs: number, callers: AbortSignal | undefined) {
    this.timeoutMs = timeoutMs
    this.callers = callers
    if (callers?.aborted) this.pass()
    else callers?.addEventListener('abort', this.pass)
  }

  get signal(): AbortSignal {
    return this.controller.signal
  }

  async during<Result>(waiting: Promise<Result>): Promise<Result> {
    if (this.timeoutMs === Number.POSITIVE_INFINITY) return waiting
    const timer = setTimeout(
      () => this.controller.abort(new DOMException('The server was silent for too long.', 'TimeoutError')),
      timerMs(this.timeoutMs),
    )
    try {
      return await waiting
    } finally {
      clearTimeout(timer)
    }
  }

  end(): void {
    this.callers?.removeEventListener('abort', this.pass)
  }
}
