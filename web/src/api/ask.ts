/** Longest wait for an answer. The server gives up earlier, with a sentence; this is for networks that say nothing. */
const PATIENCE_MS = 30_000

/** Why a question got no good answer. */
export class AskError extends Error {
  /** The server's `code` (docs/errors.md), or `offline` where no answer came at all. */
  readonly code: string
  /** 0 where no answer came. */
  readonly status: number
  /** What the server adds, the number of the failing parameter for instance. */
  readonly data: Readonly<Record<string, unknown>>
  /** Seconds to wait before the next try, where the server says so. */
  readonly retryAfterS: number | undefined
  /** To be named when somebody reports the failure. */
  readonly requestId: string | undefined

  constructor(sentence: string, facts: AskErrorFacts) {
    super(sentence)
    this.name = 'AskError'
    this.code = facts.code
    this.status = facts.status ?? 0
    this.data = facts.data ?? {}
    this.retryAfterS = facts.retryAfterS
    this.requestId = facts.requestId
  }
}

interface AskErrorFacts {
  readonly code: string
  readonly status?: number
  readonly data?: Readonly<Record<string, unknown>>
  readonly retryAfterS?: number | undefined
  readonly requestId?: string | undefined
}

export interface AskOptions {
  readonly method?: 'GET' | 'POST' | 'PATCH'
  /** Sent as JSON, in the body alone: never in the address. */
  readonly body?: object
  readonly signal?: AbortSignal | undefined
}

/**
 * Asks our server, and answers the `data` of its envelope.
 *
 * @throws {AskError} for a refusal and for no answer
 * @throws {DOMException} `AbortError` when the caller's signal ends it
 */
export async function askJson<Data>(path: string, options: AskOptions = {}): Promise<Data> {
  const response = await ask(path, options)
  const answer = (await response.json().catch(() => undefined)) as Envelope<Data> | undefined
  if (response.ok && answer?.ok) return answer.data
  throw refusalOf(response, answer)
}

export interface ExactAnswer<Data> {
  readonly data: Data
  /** Changes whenever the answer does (its `ETag`). */
  readonly tag: string | null
}

/**
 * Like {@link askJson}, but with every digit: a number that JavaScript would round comes as its text, in browsers that
 * tell it (all since 2025).
 */
export async function askExactJson<Data>(path: string, options: AskOptions = {}): Promise<ExactAnswer<Data>> {
  const response = await ask(path, options)
  const answer = parseExactly<Envelope<Data>>(await response.text().catch(() => ''))
  if (response.ok && answer?.ok) return { data: answer.data, tag: response.headers.get('etag') }
  throw refusalOf(response, answer)
}

/** Like {@link askJson} for answers that are bytes. */
export async function askBytes(path: string, options: AskOptions = {}): Promise<Uint8Array> {
  const response = await ask(path, options)
  if (response.ok) return new Uint8Array(await response.arrayBuffer())
  throw refusalOf(response, (await response.json().catch(() => undefined)) as Envelope<never> | undefined)
}

interface Envelope<Data> {
  readonly ok: boolean
  readonly data: Data
  readonly error?: string
  readonly code?: string
}

function parseExactly<Answer>(json: string): Answer | undefined {
  const keepDigits = (_name: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' && context?.source !== undefined && `${value}` !== context.source
      ? context.source
      : value
  try {
    return JSON.parse(json, keepDigits)
  } catch {
    return undefined
  }
}

async function ask(path: string, { method = 'GET', body, signal }: AskOptions): Promise<Response> {
  const patience = AbortSignal.timeout(PATIENCE_MS)
  try {
    return await fetch(path, {
      method,
      signal: signal ? AbortSignal.any([signal, patience]) : patience,
      credentials: 'omit',
      redirect: 'error',
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new AskError('The server could not be reached.', { code: 'offline' })
  }
}

function refusalOf(response: Response, answer: Envelope<unknown> | undefined): AskError {
  const wait = Number(response.headers.get('retry-after'))
  return new AskError(answer?.error ?? `The server answered ${response.status}.`, {
    code: answer?.code ?? 'unreadable_answer',
    status: response.status,
    data: (answer?.data ?? {}) as Readonly<Record<string, unknown>>,
    retryAfterS: wait > 0 ? wait : undefined,
    requestId: response.headers.get('x-request-id') ?? undefined,
  })
}
