import type { RateLimiter } from '../chain/rpc/rate-limiter.ts'
import type { Timing } from '../chain/rpc/timing.ts'
import { SECOND_MS } from '../clock.ts'
import { askAddress, type OutboundAnswer, OutboundError, parseOrUndefined } from '../outbound.ts'

/** For a whole answer. */
const TIMEOUT_MS = 10 * SECOND_MS

/** Why a server of offers cannot be read. Its message is for everyone: it has nothing of the address and of the answer. */
export class ListingsError extends Error {
  override readonly name = 'ListingsError'
  /** How long the server asked to wait. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, retryAfterMs?: number) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

/** There is no whole answer of the server. */
export class UnusableAnswerError extends ListingsError {}

export interface ServerClientOptions {
  /** What it is called in messages: `marketplace server`. */
  readonly what: string
  /** Its address may have a key in path or query, which no error and no log shows. */
  readonly url: string
  /** All servers of offers share one. */
  readonly limiter: RateLimiter
  readonly timing: Timing
  readonly signal: AbortSignal
}

/** Asks a server of offers, within limits of time, size and rate. */
export class ServerClient {
  readonly what: string
  private readonly options: ServerClientOptions

  constructor(options: ServerClientOptions) {
    this.options = options
    this.what = options.what
  }

  /** @throws {UnusableAnswerError} where there is no whole answer */
  ask(
    path: string,
    query: Readonly<Record<string, string>>,
    maxBytes: number,
  ): Promise<{ readonly answer: OutboundAnswer; readonly bytes: number }> {
    const { url: base, timing, signal, limiter } = this.options
    const url = new URL(base)
    url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    return limiter.run(1, async () => {
      const startedMs = timing.nowMs()
      let bytes = 0
      const parse = (body: Buffer) => {
        bytes = body.length
        return parseOrUndefined(body.toString('utf8'))
      }
      try {
        const answer = await askAddress(
          url,
          { timeoutMs: TIMEOUT_MS, maxBytes, startTimer: timing.startTimer, signal },
          { method: 'GET', headers: { 'accept-encoding': 'gzip' }, parse },
        )
        if (answer.status === 429 || answer.status === 503) limiter.noteRefusal(answer.retryAfterMs)
        else limiter.noteAnswer(startedMs)
        return { answer, bytes }
      } catch (error) {
        signal.throwIfAborted()
        throw error instanceof OutboundError ? new UnusableAnswerError(this.textOf(error.failure)) : error
      }
    })
  }

  /**
   * The rows of a page of a list.
   *
   * @param rowsOf finds them in the JSON of an answer
   * @throws {ListingsError} where the answer is no such page
   */
  async page(
    path: string,
    query: Readonly<Record<string, string>>,
    { maxRows, maxBytes, rowsOf }: PageForm,
  ): Promise<{ readonly rows: readonly unknown[]; readonly bytes: number }> {
    const { answer, bytes } = await this.ask(path, query, maxBytes)
    this.assertNotBusy(answer)
    const { status, json } = answer
    if (status !== 200) throw new ListingsError(`the ${this.what} answered with status ${status}`)
    if (json === undefined) throw new ListingsError(`the ${this.what} answered something else than JSON`)
    const rows = rowsOf(json)
    if (!Array.isArray(rows))
      throw new ListingsError(`the ${this.what} answered something else than a list of offers`)
    if (rows.length > maxRows)
      throw new ListingsError(`the ${this.what} answered more offers than it was asked for`)
    return { rows, bytes }
  }

  /** @throws {ListingsError} where the server refuses requests for a while */
  assertNotBusy({ status, retryAfterMs }: OutboundAnswer): void {
    if (status === 429 || status === 503)
      throw new ListingsError(`the ${this.what} refuses requests for a while (${status})`, retryAfterMs)
  }

  private textOf(failure: OutboundError['failure']): string {
    switch (failure) {
      case 'timeout':
        return `the ${this.what} did not answer within ${TIMEOUT_MS / SECOND_MS} seconds`
      case 'unreachable':
        return `the ${this.what} cannot be reached`
      case 'too_large':
        return `an answer of the ${this.what} is too large`
      case 'redirect':
        return `the ${this.what} answered with a redirect, which is not followed`
    }
  }
}

export interface PageForm {
  readonly maxRows: number
  readonly maxBytes: number
  readonly rowsOf: (json: unknown) => unknown
}
