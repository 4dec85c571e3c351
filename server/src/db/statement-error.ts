import { AppError } from '../errors.ts'

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

/** A statement that took longer than allowed, a server that shuts down or takes no more connections. */
const UNAVAILABLE_STATES = new Set(['57014', '57P01', '57P02', '57P03', '53300', '25P03'])
/** How Node names a connection that could not be made or broke. */
const UNAVAILABLE_CODES = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'ENOENT'])
/** What `pg` says without a code when a connection is lost or the pool has none to give. */
const UNAVAILABLE_SENTENCE =
  /timeout exceeded when trying to connect|Connection terminated|not queryable|Query read timeout/

/** Turns an error of an engine into a StatementError or, where a retry can help, an AppError. */
export function toOwnError(error: unknown): unknown {
  if (error instanceof AppError || error instanceof StatementError || !(error instanceof Error)) return error
  const { code } = error as { code?: unknown }
  if (isUnavailable(error, code)) return databaseUnavailable(reasonOf(error, code))
  if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code)) return error
  return new StatementError(error.message, error as unknown as StatementFacts)
}

export function databaseUnavailable(why: string): AppError {
  return new AppError('database_unavailable', `The database did not answer: ${why}`)
}

/** Node's own text holds the database's address, which no answer must show, or is empty where there are several. */
function reasonOf(error: Error, code: unknown): string {
  return UNAVAILABLE_CODES.has(String(code)) ? String(code) : error.message
}

function isUnavailable(error: Error, code: unknown): boolean {
  if (typeof code !== 'string') return UNAVAILABLE_SENTENCE.test(error.message)
  return UNAVAILABLE_STATES.has(code) || UNAVAILABLE_CODES.has(code) || /^08...$/.test(code)
}

/** Whether a statement violated this unique constraint. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return error instanceof StatementError && error.code === '23505' && error.constraint === constraint
}
