import type { TransportResponse } from './transport.ts'
import type { ErrorCode } from './types.ts'

/**
 * Why a call got no good answer: the server's `code` (docs/errors.md), or one of the client's own.
 *
 * `offline`: no answer came, or it broke off · `unreadable_answer`: an answer came that is not of a Landpass server, of
 * a proxy for instance. More codes may come with newer servers.
 */
export type LandpassErrorCode = ErrorCode | 'offline' | 'unreadable_answer' | (string & {})

export interface LandpassErrorFacts {
  readonly code: LandpassErrorCode
  readonly status?: number
  readonly data?: Readonly<Record<string, unknown>>
  readonly retryAfterS?: number | undefined
  readonly requestId?: string | undefined
  readonly cause?: unknown
}

/**
 * A call that got no good answer. Its message is the server's sentence for a person: the cause, then the next step.
 *
 * @example
 * try {
 *   await client.send(land.parcel({ x: 999, y: 0 }))
 * } catch (error) {
 *   if (error instanceof LandpassError && error.code === 'invalid_parameter') console.log(error.message)
 *   else throw error
 * }
 */
export class LandpassError extends Error {
  readonly code: LandpassErrorCode
  /** The HTTP status; 0 where no answer came. */
  readonly status: number
  /** Details, the number of the failing parameter for instance. */
  readonly data: Readonly<Record<string, unknown>>
  /** Seconds to wait before the next try, where the server says so. */
  readonly retryAfterS: number | undefined
  /** To be named in a report of the failure. */
  readonly requestId: string | undefined

  constructor(sentence: string, facts: LandpassErrorFacts) {
    super(sentence, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.name = 'LandpassError'
    this.code = facts.code
    this.status = facts.status ?? 0
    this.data = facts.data ?? {}
    this.retryAfterS = facts.retryAfterS
    this.requestId = facts.requestId
  }
}

/** No answer came, or it broke off. */
export function offlineError(cause: unknown): LandpassError {
  return new LandpassError('The server could not be reached.', { code: 'offline', cause })
}

/** What an answer says that is no success. @param text its whole body */
export function refusalOf({ status, headers }: TransportResponse, text: string): LandpassError {
  const { error, code, data } = bodyOf(text)
  const isPlainText = headers['content-type']?.startsWith('text/plain') === true
  // One failure is a line of text; its code is in the header, as that of every failure.
  const codeBeside = headers['x-error-code']
  const sentence = error ?? (isPlainText && codeBeside !== undefined && text !== '' ? text.trim() : undefined)
  return new LandpassError(sentence ?? `The server answered ${status}.`, {
    code: code ?? codeBeside ?? 'unreadable_answer',
    status,
    data: data ?? {},
    retryAfterS: retryAfterS(headers),
    requestId: headers['x-request-id'],
  })
}

interface Refusal {
  readonly error?: string
  readonly code?: string
  readonly data?: Readonly<Record<string, unknown>>
}

function bodyOf(text: string): Refusal {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return {}
  }
  if (typeof json !== 'object' || json === null) return {}
  const { error, code, data } = json as Readonly<Record<string, unknown>>
  return {
    ...(typeof error === 'string' && { error }),
    ...(typeof code === 'string' && { code }),
    ...(typeof data === 'object' && data !== null && { data: data as Readonly<Record<string, unknown>> }),
  }
}

/** Seconds, or a moment that proxies may name: then those from the answer's own `date` on. */
function retryAfterS(headers: Readonly<Record<string, string>>): number | undefined {
  const text = headers['retry-after'] ?? ''
  const untilMs = Date.parse(text) - Date.parse(headers.date ?? '')
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil(untilMs / 1000)
  return seconds > 0 ? seconds : undefined
}
