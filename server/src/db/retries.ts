import { setTimeout } from 'node:timers/promises'
import { repeatAfterFailures } from '../retries.ts'
import { databaseUnavailable, StatementError } from './statement-error.ts'

/** Serialization failure and deadlock: PostgreSQL undid the whole transaction, and doing it again can succeed. */
const RETRIED_STATES: ReadonlySet<string> = new Set(['40001', '40P01'])
/** How often work is done in all, before `database_unavailable`. */
export const MAX_TRIES = 5
/** The longest pause before the second try; it doubles each time. */
const FIRST_PAUSE_MS = 20

/** Where chance and time of the pauses between two tries come from. Tests replace both. */
export interface RetryTiming {
  /** From 0 to less than 1, as `Math.random`. */
  random(): number
  pause(ms: number): Promise<unknown>
}

const SYSTEM_RETRY_TIMING: RetryTiming = {
  random: Math.random,
  pause: (ms) => setTimeout(ms),
}

/**
 * Does `work`, and does it again after a deadlock or a serialization failure. The pauses are random, because transactions that
 * disturbed each other would otherwise meet again.
 *
 * @throws {AppError} `database_unavailable` after {@link MAX_TRIES} such failures; any other error as it is
 * @example
 * await withRetries(() => sql`update account set coins = coins + 1 where id = 1`.execute(db))
 */
export function withRetries<T>(work: () => Promise<T>, timing = SYSTEM_RETRY_TIMING): Promise<T> {
  const pauseAfter = (error: unknown, tries: number) => {
    if (!isWorthARetry(error)) return undefined
    if (tries === MAX_TRIES) throw databaseUnavailable(`${error.code} ${error.message}, ${tries} times`)
    return timing.random() * FIRST_PAUSE_MS * 2 ** (tries - 1)
  }
  return repeatAfterFailures(work, { pauseAfter, pause: timing.pause })
}

function isWorthARetry(error: unknown): error is StatementError {
  return error instanceof StatementError && RETRIED_STATES.has(error.code)
}
