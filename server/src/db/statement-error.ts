import { AppError, CommandError, type ErrorCode } from '../errors.ts'

/**
 * A statement that the database refused, in the same form for both engines. It has the fields that code decides on,
 * and nothing that must not appear in a log or an answer: the engines' own errors hold the query, its parameters and,
 * in `detail`, values of rows.
 */
export class StatementError extends Error {
  /** SQLSTATE, five characters: `23505` is a unique violation. */
  readonly code: string
  readonly constraint: string | undefined
  readonly table: string | undefined
  readonly column: string | undefined
  constructor(message: string, facts: StatementFacts) {
    super(message)
    this.name = 'StatementError'
    this.code = facts.code
    this.constraint = facts.constraint
    this.table = facts.table
    this.column = facts.column
  }
}

export interface StatementFacts {
  readonly code: string
  readonly constraint?: string | undefined
  readonly table?: string | undefined
  readonly column?: string | undefined
}

/** SQLSTATE of a statement that took longer than allowed. */
const CANCELLED = '57014'
/**
 * SQLSTATEs that say something about the state of the database, not about the statement: the same request can succeed
 * later. Classes have three dots.
 */
const REFUSALS: ReadonlyMap<string, DatabaseRefusal> = new Map<string, DatabaseRefusal>([
  ['25006', 'database_read_only'],
  ['53000', 'database_full'],
  ['53100', 'database_full'], // no disk space
  ['53200', 'database_full'], // no memory
  ['53300', 'database_unavailable'], // no more connections
  ['53400', 'database_unavailable'],
  [CANCELLED, 'database_unavailable'],
  ['57P01', 'database_unavailable'], // shutting down
  ['57P02', 'database_unavailable'],
  ['57P03', 'database_unavailable'], // starting up
  ['57P04', 'database_unavailable'],
  ['57P05', 'database_unavailable'],
  ['25P03', 'database_unavailable'], // the transaction was idle for too long
  ['25P04', 'database_unavailable'],
  ['3D000', 'database_unavailable'], // the database is gone
  ['58030', 'database_unavailable'], // input or output failed
  ['08...', 'database_unavailable'], // the connection
  ['28...', 'database_unavailable'], // the login
])
/** SQLSTATEs after which the connection is closed by the other side. */
const CLOSING = /^(08...|57P0[1-5]|25P0[34])$/
/** How Node names a connection that could not be made or broke. */
const LOST_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
  'ERR_STREAM_DESTROYED',
])
/** What `pg` says without a code when a connection is lost. */
const LOST_SENTENCE = /Connection terminated|not queryable|Query read timeout|^timeout expired$/
/** What `pg` says when the pool has no connection to give, or when a host did not answer in time. */
const TIMEOUT_SENTENCE = /timeout exceeded when trying to connect|Query read timeout|connection timeout/
/** Part of the answer: the texts of the errors below are the same for all, never those of the database or its driver. */
const RETRY = { retry_after_s: 5 }

/** Turns an error of an engine into a StatementError or, where a retry can help, an AppError. */
export function toOwnError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof AppError || error instanceof CommandError) return error
  const state = sqlStateOf(error)
  const code =
    state === undefined ? undefined : (REFUSALS.get(state) ?? REFUSALS.get(`${state.slice(0, 2)}...`))
  if (code !== undefined) return REFUSAL_OF[code](`${state} ${error.message}`)
  if (isConnectionLost(error) || isTimeout(error)) return databaseUnavailable(reasonOf(error))
  if (state === undefined || error instanceof StatementError) return error
  // Both engines set these fields on their errors, which they do not type
  return new StatementError(error.message, error as unknown as StatementFacts)
}

/** Whether an error has one of Node's codes for a connection that could not be made or broke. */
export function hasLostCode(error: unknown): boolean {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && LOST_CODES.has(code)
}

/** Whether the connection on which this happened cannot be used again. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isConnectionLost)
  if (!(error instanceof Error)) return false
  const { code } = error as { code?: unknown }
  if (typeof code !== 'string') return LOST_SENTENCE.test(error.message)
  return LOST_CODES.has(code) || CLOSING.test(code)
}

/** Whether the other side did not answer in time, as opposed to: it closed the connection or refused the statement. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && TIMEOUT_SENTENCE.test(error.message)
}

/** @param why for the log of the operator; no client sees it */
export function databaseUnavailable(why: string): AppError {
  return withReason(new AppError('database_unavailable', 'The database did not answer.', RETRY), why)
}

/** @param why for the log of the operator; no client sees it */
export function databaseReadOnly(why: string): AppError {
  const sentence = 'The database accepts no changes at present.'
  return withReason(new AppError('database_read_only', sentence, RETRY), why)
}

/** @param why for the log of the operator; no client sees it */
export function databaseFull(why: string): AppError {
  const sentence = 'The database has no space left for changes.'
  return withReason(new AppError('database_full', sentence, RETRY), why)
}

function withReason(error: AppError, why: string): AppError {
  error.cause = why
  return error
}

const REFUSAL_OF = {
  database_unavailable: databaseUnavailable,
  database_read_only: databaseReadOnly,
  database_full: databaseFull,
} as const satisfies Partial<Record<ErrorCode, (why: string) => AppError>>

/** The codes of a database that cannot do its work. */
export type DatabaseRefusal = keyof typeof REFUSAL_OF

/** Whether an error says that the database cannot do its work now, and not that the statement was wrong. */
export function isDatabaseRefusal(error: unknown): error is AppError & { readonly code: DatabaseRefusal } {
  return error instanceof AppError && error.code in REFUSAL_OF
}

/** Whether the database has ended a statement that took longer than allowed. */
export function isCancelled(error: unknown): boolean {
  return isDatabaseRefusal(error) && String(error.cause).startsWith(CANCELLED)
}

/** An error of another thread, where `isDatabaseRefusal` knows it again: a message between threads loses its class. */
export function fromThread(error: unknown): unknown {
  const { code, cause } = error as { code?: unknown; cause?: unknown }
  const isRefusal = typeof code === 'string' && Object.hasOwn(REFUSAL_OF, code)
  return isRefusal ? REFUSAL_OF[code as DatabaseRefusal](String(cause)) : error
}

function sqlStateOf(error: Error): string | undefined {
  const { code } = error as { code?: unknown }
  // Names of Node such as EPIPE can have the same form
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !LOST_CODES.has(code) ? code : undefined
}

/** Node's own text holds the database's address, or is empty where there are several. */
function reasonOf(error: Error): string {
  const codes = (error instanceof AggregateError ? error.errors : [error]).map(
    (one: { code?: unknown }) => one.code,
  )
  const named = codes.filter((code) => typeof code === 'string' && LOST_CODES.has(code))
  return named.length > 0 ? [...new Set(named)].join(', ') : error.message
}
