import type { TransportResponse } from './transport.ts'
import type { ErrorCode } from './types.ts'

/**
 * Why a call failed: the server's `code` (docs/errors.md), or a code of the client.
 *
 * `offline`: no answer arrived, or it was cut off · `unreadable_answer`: the answer is not from a Landpass server, but
 * from a proxy for instance. Newer servers may have more codes.
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
 * A failed call. Its message is the server's sentence for a person: the cause, then the next step.
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
  /** The HTTP status; 0 if no answer arrived, and for a redirect in a browser, which does not say it. */
  readonly status: number
  /** Details, for instance the refused parameter. */
  readonly data: Readonly<Record<string, unknown>>
  /** Seconds to wait before the next try, if the server names them. */
  readonly retryAfterS: number | undefined
  /** Identifies the request in the server's log. */
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

/** The error for a call whose answer did not arrive, or was cut off. */
export function offlineError(cause: unknown): LandpassError {
  return new LandpassError('The server could not be reached.', { code: 'offline', cause })
}

/** The error for an answer that is no success. @param text its whole body */
export function refusalOf({ status, headers }: TransportResponse, text: string): LandpassError {
  const { error, code, data } = bodyOf(text)
  const isPlainText = headers['content-type']?.startsWith('text/plain') === true
  // The failure of a map image with too many parcels is a line of text. Its code is only in the header.
  const headerCode = headers['x-error-code']
  const sentence = error ?? (isPlainText && headerCode !== undefined && text !== '' ? text.trim() : undefined)
  return new LandpassError(sentence ?? `The server answered ${status}.`, {
    code: code ?? headerCode ?? 'unreadable_answer',
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

/** The header is in seconds, or a date (from some proxies), which is compared with the answer's own `date`. */
function retryAfterS(headers: Readonly<Record<string, string>>): number | undefined {
  const text = headers['retry-after'] ?? ''
  const untilMs = Date.parse(text) - Date.parse(headers.date ?? '')
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil(untilMs / 1000)
  return seconds > 0 ? seconds : undefined
}
