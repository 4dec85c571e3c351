import { sql } from 'kysely'
import { HOUR_MS, MINUTE_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import type { ClaimState } from '../../db/schema.ts'

/** How many hours a report shows: the last week. */
const REPORTED_HOURS = 7 * 24

/** How many minutes a report shows: the last three hours. */
const REPORTED_MINUTES = 3 * 60

export type ClaimCounts = Readonly<Record<ClaimState, number>>

export interface HourOfClaims extends ClaimCounts {
  readonly hourMs: number
}

export interface CountedClaims {
  /** All claims of the event, by state. */
  readonly total: ClaimCounts
  /** The hours of the last week in which claims were made, the newest first. */
  readonly hours: readonly HourOfClaims[]
}

/**
 * Counts the claims of an event by state, and by the hour in which they were made. Takes the same time however many
 * there are: see `EventCountTable`.
 */
export async function countClaims(db: Db, eventId: number, nowMs: number): Promise<CountedClaims> {
  const sinceMs = (Math.floor(nowMs / HOUR_MS) - REPORTED_HOURS + 1) * HOUR_MS
  const { rows } = await sql<Record<keyof HourOfClaims, number>>`
    select hour_ms as "hourMs", sum(reserved)::bigint as reserved, sum(minting)::bigint as minting,
      sum(minted)::bigint as minted, sum(failed)::bigint as failed, sum(released)::bigint as released
    from event_count
    where event_id = ${eventId} and (hour_ms = -1 or hour_ms >= ${sinceMs})
    group by hour_ms order by hour_ms desc`.execute(db)
  const { hourMs: _, ...total } = rows.find(({ hourMs }) => hourMs === -1) ?? NO_CLAIMS
  return { total, hours: rows.filter(({ hourMs, ...counts }) => hourMs !== -1 && hasClaims(counts)) }
}

const NO_CLAIMS = { hourMs: -1, reserved: 0, minting: 0, minted: 0, failed: 0, released: 0 }

function hasClaims(counts: ClaimCounts): boolean {
  return Object.values(counts).some((count) => count > 0)
}

export interface MinuteOfClaims {
  readonly minuteMs: number
  readonly claims: number
}

/** The last minutes in which claims were made, the oldest first. Reads an index entry for each of these claims. */
export async function countByMinute(
  db: Db,
  eventId: number,
  nowMs: number,
): Promise<readonly MinuteOfClaims[]> {
  const sinceMs = (Math.floor(nowMs / MINUTE_MS) - REPORTED_MINUTES + 1) * MINUTE_MS
  const { rows } = await sql<{ minuteMs: number; claims: number }>`
    select created_at_ms / 60000 * 60000 as "minuteMs", count(*) as claims
    from claim where event_id = ${eventId} and created_at_ms >= ${sinceMs}
    group by 1 order by 1`.execute(db)
  return rows.map(({ minuteMs, claims }) => ({ minuteMs, claims: Number(claims) }))
}
