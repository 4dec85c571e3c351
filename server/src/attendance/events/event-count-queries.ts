import { type RawBuilder, sql } from 'kysely'
import type { ClaimState, CodeState } from '../../db/schema.ts'

/** Rows of a statement that come into a state, leave one, or both. */
export interface Move {
  /** The part of the statement that returns them with `event_id`, and claims with `created_at_ms` too. */
  readonly rows: string
  readonly of: 'claims' | 'codes'
  /** Left out: they are new. */
  readonly from?: ClaimState | CodeState
  readonly to: ClaimState | CodeState
}

const HOUR = 'created_at_ms / 3600000 * 3600000'

/**
 * The part of a statement that changes `event_count` by what its other parts changed: every statement that changes the state of
 * claims or codes has it, so the counts are exact at every time, and a test compares them with the rows.
 *
 * Each connection changes rows of its own (`stripe`), or hundreds of claims in one second would wait for each other's commits. The
 * row with `hour_ms` -1 has the totals; it is changed before those of the hours, in the order of the events. So two statements
 * on connections with the same stripe never wait for each other in a circle.
 *
 * @example
 * sql`with made as (insert into claim … returning event_id, created_at_ms), ${countMoves({ rows: 'made', of: 'claims', to: 'reserved' })} select …`
 */
export function countMoves(...moves: readonly Move[]): RawBuilder<unknown> {
  const changes = moves.flatMap(({ rows, of, from, to }) => {
    const hour = of === 'claims' ? HOUR : 'null::bigint'
    const change = (state: string, by: number) =>
      `select event_id, ${hour} as hour_ms, '${state}' as state, ${by} as change from ${rows}`
    return from === undefined ? [change(to, 1)] : [change(from, -1), change(to, 1)]
  })
  const states = [...new Set(moves.flatMap(({ from, to }) => (from === undefined ? [to] : [from, to])))]
  const sums = states.map((state) => `coalesce(sum(change) filter (where state = '${state}'), 0)`)
  const added = states.map((state) => `${state} = event_count.${state} + excluded.${state}`)
  return sql.raw(`moved as (
      ${changes.join('\n      union all ')}
    ), counted as (
      insert into event_count (event_id, hour_ms, stripe, ${states.join(', ')})
      select event_id, hour_ms, pg_backend_pid() % 16, ${sums.join(', ')}
      from (
        select event_id, -1 as hour_ms, state, change from moved
        union all select event_id, hour_ms, state, change from moved where hour_ms is not null
      ) as change group by event_id, hour_ms order by event_id, hour_ms
      on conflict (event_id, hour_ms, stripe) do update set ${added.join(', ')}
    )`)
}
