import Type from 'typebox'
import { HOUR_MS } from '../../clock.ts'
import { parseIssuerDate } from '../issuer/issuer-dates.ts'
import type { Event } from './event-queries.ts'

const DAY_MS = 24 * HOUR_MS
/** So long before the first day of an event, an opening time is probably a mistake; the page for organisers asks then. */
const EARLY_DAYS = 30

/** In answers to what sets the times of an event. */
export const warningsField = {
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Sentences about what was stored, but is probably a mistake; left out where there is nothing.',
    }),
  ),
}

/**
 * Warns of tokens that can be claimed long before the event: a wrong year in the opening time is enough.
 *
 * @returns a field of the answer's data; no field where nothing is wrong
 */
export function warningsIn({
  distribution_start_at_ms: startAtMs,
  issuer_record: { start_date: firstDay },
}: Pick<Event, 'distribution_start_at_ms' | 'issuer_record'>): { readonly warnings?: string[] } {
  const firstDayMs = parseIssuerDate(firstDay)
  if (startAtMs === null || firstDayMs === undefined) return {}
  const days = Math.floor((firstDayMs - startAtMs) / DAY_MS)
  if (days < EARLY_DAYS) return {}
  const opens = new Date(startAtMs).toISOString()
  return {
    warnings: [
      `Tokens can be claimed from ${opens} on, ${days} days before the first day of the event. If that is a mistake, change distribution_start_date.`,
    ],
  }
}
