import { type RawBuilder, sql } from 'kysely'
import type { ClaimState, CodeState } from '../../db/schema.ts'

/** Totals of an event that are no states: grants that expired unused, and tokens that were given to addresses of a list. */
export type Total = 'grants_expired' | 'gifts_given'

/** Rows of a statement that come into a state or a total, leave a state, or both. */
export interface Move {
  /**
   * The part of the statement that returns them with `event_id`, and claims with `created_at_ms` too: all of one event. Codes
   * with the same `rows` as claims are codes of these claims.
   */
  readonly rows: string
  readonly of: 'claims' | 'codes' | 'totals'
  /** Left out: they are new. */
  readonly from?: ClaimState | CodeState
  /** Left out: they are removed. */
  readonly to?: ClaimState | CodeState | Total
}

const HOUR = 'created_at_ms / 3600000 * 3600000'

/**
 * The part of a statement that changes `event_count` by what its other parts changed: every statement that changes the state of
 * claims or codes has it, so the counts are exact at every time, and a test compares them with the rows. **The statement must
 * read `counted`**, which has one row: a part that is not read is not executed.
 *
 * The function `add_counts` changes the rows: each connection has rows of its own (`stripe`), or hundreds of claims in one second
 * would wait for each other's commits. The row with `hour_ms` -1 has the totals; it is changed before those of the hours, so two
 * statements on connections with the same stripe never wait for each other in a circle.
 *
 * @example
 * sql`with made as (update claim … returning event_id, created_at_ms), ${countMoves({ rows: 'made', of: 'claims', to: 'failed' })} select from made, counted`
 */
export function countMoves(...moves: readonly Move[]): RawBuilder<unknown> {
  const states = [
    ...new Set(moves.flatMap(({ from, to }) => [from, to]).filter((state) => state !== undefined)),
  ]
  const changes = [...new Set(moves.map(({ rows }) => rows))].map((rows) => {
    const ofRows = moves.filter((move) => move.rows === rows)
    const changeOf = (state: string) =>
      ofRows.filter(({ to }) => to === state).length - ofRows.filter(({ from }) => from === state).length
    const hour = ofRows.some((move) => move.of === 'claims') ? HOUR : 'null::bigint'
    return `select event_id, ${hour} as hour_ms, ${states.map((state) => `${changeOf(state)} as ${state}`).join(', ')} from ${rows}`
  })
  return sql.raw(`counted as (
      select count(add_counts(event_id, hour_ms, ${states.map((state) => `${state} => ${state}`).join(', ')})) from (
        select event_id, hour_ms, ${states.map((state) => `sum(${state}) as ${state}`).join(', ')}
        from (${changes.join('\n          union all ')}) as moved group by event_id, hour_ms order by hour_ms
      ) as change
    )`)
}

/** A total of an event. */
export const totalOf = (total: Total, eventId: number): RawBuilder<number> =>
  sql<number>`(
    select coalesce(sum(${sql.ref(total)}), 0)::integer from event_count where event_id = ${eventId} and hour_ms = -1
  )`
