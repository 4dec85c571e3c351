import type { RateLimiter } from '../chain/rpc/rate-limiter.ts'
import type { Timing } from '../chain/rpc/timing.ts'
import { SECOND_MS } from '../clock.ts'
import { askAddress, type OutboundAnswer, OutboundError, parseJsonAnswer } from '../outbound.ts'

/** For a whole answer. */
const TIMEOUT_MS = 10 * SECOND_MS
/** The longest page of a list. A thousand offers have half a mebibyte. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024
/** The most that all pages of a list may have together. */
const MAX_LIST_BYTES = 64 * 1024 * 1024

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
    return limiter.run(async () => {
      const startedMs = timing.nowMs()
      let bytes = 0
      const parse = (body: Buffer) => {
        bytes = body.length
        return parseJsonAnswer(body.toString('utf8'))
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
   * What a list names, page by page, each name once. The list ends with a page that names nothing new: the total of the server is
   * not trusted, nor that its pages are full.
   *
   * @throws {ListingsError} where an answer is no page of such a list, or the list has no end
   */
  async *list<Named extends { readonly id: string }>(
    path: string,
    { pageRows, maxPages, queryOf, rowsOf, nameOf }: ListForm<Named>,
  ): AsyncGenerator<readonly Named[], void, undefined> {
    const named = new Set<string>()
    let rows = 0
    let bytesLeft = MAX_LIST_BYTES
    for (let page = 0; page < maxPages; page++) {
      const { answer, bytes } = await this.ask(path, queryOf(rows), Math.min(MAX_PAGE_BYTES, bytesLeft))
      const found = this.rowsIn(answer, rowsOf)
      if (found.length > pageRows)
        throw new ListingsError(`the ${this.what} answered more offers than it was asked for`)
      bytesLeft -= bytes
      rows += found.length
      const isNew: Named[] = []
      for (const row of found) {
        const one = nameOf(row)
        if (!one || named.has(one.id)) continue
        named.add(one.id)
        isNew.push(one)
      }
      if (isNew.length === 0) return
      yield isNew
    }
    throw new ListingsError(`the ${this.what} names offers without end: ${maxPages} pages were read`)
  }

  private rowsIn(answer: OutboundAnswer, rowsOf: (json: unknown) => unknown): readonly unknown[] {
    this.assertNotBusy(answer)
    const { status, json } = answer
    if (status !== 200) throw new ListingsError(`the ${this.what} answered with status ${status}`)
    if (json === undefined) throw new ListingsError(`the ${this.what} answered something else than JSON`)
    const rows = rowsOf(json)
    if (Array.isArray(rows)) return rows
    throw new ListingsError(`the ${this.what} answered something else than a list of offers`)
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

/** How a list is asked for, and what it has. */
export interface ListForm<Named> {
  /** The most rows of a page. */
  readonly pageRows: number
  readonly maxPages: number
  /** Asks for the page behind so many rows. */
  readonly queryOf: (skipped: number) => Readonly<Record<string, string>>
  /** Finds the rows in the JSON of a page. */
  readonly rowsOf: (json: unknown) => unknown
  /** What a row names; undefined for what is no offer. */
  readonly nameOf: (row: unknown) => Named | undefined
}
