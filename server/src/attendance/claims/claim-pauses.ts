import { MINUTE_MS, SECOND_MS } from '../../clock.ts'
import type { HeldClaim } from './claim-queries.ts'

/** First and longest pause between two checks of a token that is being made, which takes a minute or more. */
export const MINTING_FIRST_MS = 10 * SECOND_MS
export const MINTING_MOST_MS = 5 * MINUTE_MS
/** The same for a claim with an unknown outcome; shorter, because a player waits for it. */
const UNKNOWN_FIRST_MS = SECOND_MS
const UNKNOWN_MOST_MS = 15 * SECOND_MS

/**
 * The pause in milliseconds after a step that changed nothing. Each pause is 1.5 times the one before.
 *
 * @example
 * pauseAfter({ state: 'reserved', attempts: 2 }) // 2250
 */
export function pauseAfter({ state, attempts }: Pick<HeldClaim, 'state' | 'attempts'>): number {
  const firstMs = state === 'minting' ? MINTING_FIRST_MS : UNKNOWN_FIRST_MS
  const mostMs = state === 'minting' ? MINTING_MOST_MS : UNKNOWN_MOST_MS
  return Math.min(firstMs * 1.5 ** Math.min(attempts, 50), mostMs)
}
