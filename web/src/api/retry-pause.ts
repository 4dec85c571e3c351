import { LandpassError } from '@landpass/client'

const FIRST_PAUSE_MS = 2_000
const MAX_PAUSE_MS = 60_000
/** The pages of a crowd that failed together do not ask again together. */
const MAX_EXTRA_PART = 1 / 4

/**
 * The pause before a failed request is repeated, in milliseconds: it doubles with each failure in a row, up to a minute,
 * and is never shorter than the server asks for (`Retry-After`).
 *
 * @param failures how often the request has failed in a row, the last time included
 * @param random from 0 to 1: how much of a quarter is added to the pause
 * @example
 * retryPauseMs(new LandpassError('', { code: 'offline' }), 1, 0) // 2000
 * retryPauseMs(new LandpassError('', { code: 'offline' }), 4, 0) // 16000
 * retryPauseMs(new LandpassError('', { code: 'too_many_requests', status: 429, retryAfterS: 30 }), 1, 0) // 30000
 */
export function retryPauseMs(error: unknown, failures: number, random = Math.random()): number {
  const growing = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 20), MAX_PAUSE_MS)
  const asked = error instanceof LandpassError ? (error.retryAfterS ?? 0) * 1_000 : 0
  return Math.max(growing, asked) * (1 + MAX_EXTRA_PART * random)
}
