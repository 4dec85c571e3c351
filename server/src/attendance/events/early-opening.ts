import Type from 'typebox'
import { DAY_MS } from '../../clock.ts'
import { beginOfFirstDayMs, parseIssuerDate } from '../issuers/poap/issuer-dates.ts'
import type { Event } from './event-queries.ts'

/** So long before the first day of an event, an opening time is probably a mistake; the page for organisers asks then. */
const EARLY_DAYS = 30

/** In answers to what sets the times of an event. */
export const warningsField = {
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Sentences about what was stored, but is probably a mistake.',
    }),
  ),
}

/**
 * Warns of tokens that can be claimed long before the event, or before it alone: a wrong year is enough, or days that were moved
 * without the times.
 *
 * @returns a field of the answer's data; no field where nothing is wrong
 */
export function warningsIn(event: Timed): { readonly warnings?: string[] } {
  const warnings = [openingWarning(event), closingWarning(event)].filter((one) => one !== undefined)
  return warnings.length > 0 ? { warnings } : {}
}

type Timed = Pick<Event, 'distribution_start_at_ms' | 'distribution_end_at_ms' | 'issuer_record'>

/** Undefined where tokens can be claimed from a likely time on. */
export function openingWarning({
  distribution_start_at_ms: startAtMs,
  issuer_record: { start_date: firstDay },
}: Omit<Timed, 'distribution_end_at_ms'>): string | undefined {
  const firstDayMs = parseIssuerDate(firstDay)
  if (startAtMs === null || firstDayMs === undefined) return undefined
  const days = Math.floor((firstDayMs - startAtMs) / DAY_MS)
  if (days < EARLY_DAYS) return undefined
  const opens = new Date(startAtMs).toISOString()
  return `Tokens can be claimed from ${opens} on, ${days} days before the first day of the event. If that is a mistake, change distribution_start_date.`
}

function closingWarning({
  distribution_end_at_ms: endAtMs,
  issuer_record: { start_date: firstDay },
}: Omit<Timed, 'distribution_start_at_ms'>): string | undefined {
  const firstDayMs = beginOfFirstDayMs(firstDay)
  if (endAtMs === null || firstDayMs === undefined || endAtMs > firstDayMs) return undefined
  const closes = new Date(endAtMs).toISOString()
  return `Tokens can only be claimed until ${closes}, before the first day of the event. If that is a mistake, change distribution_end_date.`
}
