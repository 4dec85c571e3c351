import Type from 'typebox'
import { orNull } from '../../schema-parts.ts'
import type { CodeCountCache } from './code-count-cache.ts'
import type { EventHolds } from './event-holds.ts'
import type { CodeCounts, Event } from './event-queries.ts'
import { isHeld } from './hold-queries.ts'
import { closedReason, codesReason, isoText, windowOf } from './openness.ts'

const reasonSchema = Type.Union([Type.String(), Type.Null()], {
  description:
    'Why no token can be had: event_refused, event_cancelled, event_disabled, event_not_open, event_closed, event_expired, event_held, waiting_for_issuer, no_codes_loaded or no_codes_left; null when open.',
})
const timeSchema = orNull(Type.String({ description: 'ISO 8601, UTC.' }))

export const availabilitySchema = Type.Object(
  {
    open: Type.Boolean(),
    reason: reasonSchema,
    total: Type.Integer({
      description: 'Codes that the issuer takes; of an event made here, its tokens.',
    }),
    available: Type.Integer(),
    claimed: Type.Integer({ description: 'Those that a player has, or that were used elsewhere.' }),
    opens_at: timeSchema,
    closes_at: timeSchema,
  },
  { title: 'Availability' },
)

/** What keeps players from the tokens of an event, and stands in no column of it. */
export interface Obstacles {
  /** See event-holds.ts. */
  readonly isHeld: boolean
  /** By the operator of this server. */
  readonly isRefused: boolean
}

export interface AvailabilityParts {
  readonly codeCounts: Pick<CodeCountCache, 'get' | 'isRefused'>
  readonly holds: Pick<EventHolds, 'find'>
}

/** The availability of tokens, with the codes and the contradictory answers of the issuer that it follows from. */
export async function readAvailability(
  { codeCounts, holds }: AvailabilityParts,
  event: Event,
  nowMs: number,
) {
  const codes = await codeCounts.get(event.event_id)
  const hold = await holds.find(event.event_id)
  const isRefused = await codeCounts.isRefused(event.event_id, codes)
  const availability = availabilityJson(event, codes, nowMs, { isHeld: isHeld(hold), isRefused })
  return { availability, codes, hold }
}

/** The availability of tokens at a time, for booths and organisers. The operator's refusal counts before all else. */
export function availabilityJson(
  event: Event,
  counts: CodeCounts,
  nowMs: number,
  { isHeld, isRefused }: Obstacles,
) {
  const { opensAtMs, closesAtMs } = windowOf(event)
  const reason =
    (isRefused ? 'event_refused' : undefined) ??
    closedReason(event, nowMs) ??
    (isHeld ? 'event_held' : undefined) ??
    codesReason(event, counts)
  return {
    open: reason === undefined,
    reason: reason ?? null,
    ...codeTotals(counts),
    opens_at: isoText(opensAtMs),
    closes_at: isoText(closesAtMs),
  }
}

/**
 * Sums of codes: all codes without void ones, free codes, and codes that are held or used.
 *
 * @example
 * codeTotals({ free: 5, held: 1, used: 2, used_elsewhere: 3, void: 9 }) // { total: 11, available: 5, claimed: 6 }
 */
export function codeTotals({ free, held, used, used_elsewhere }: CodeCounts) {
  const claimed = held + used + used_elsewhere
  return { total: free + claimed, available: free, claimed }
}
