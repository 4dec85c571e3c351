import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { countCodes, saveEvent } from '../../attendance/events/event-queries.ts'
import { countClaims } from '../../attendance/report/report-queries.ts'
import { HOUR_MS } from '../../clock.ts'
import type { Db } from '../engine.ts'
import { up } from './0005-location-and-counts.ts'

const NOW = Date.parse('2026-11-20T10:30:00.000Z')

/** The tables as the version before this one had them. */
async function takeAway(db: Db): Promise<void> {
  for (const dropped of [
    'table event_count, land_location',
    'function count_claim() cascade',
    'function count_claim_code() cascade',
    'function database_location(oid)',
  ])
    await sql.raw(`drop ${dropped}`).execute(db)
}

async function addClaims(db: Db, from: number, to: number): Promise<void> {
  await sql`
    with code as (
      insert into claim_code (event_id, fingerprint, sealed, state, created_at_ms)
      select 7, sha256(n::text::bytea), sha256(n::text::bytea), 'held', 0 from generate_series(${from}::integer, ${to}::integer) as n
      returning id
    )
    insert into claim (event_id, address, code_id, state, attempts, next_step_at_ms, created_at_ms, updated_at_ms)
    select 7, '0x' || id, id, 'reserved', 0, 0, ${NOW}::bigint, 0 from code`.execute(db)
}

describeOnBothEngines('the counts of events', (open) => {
  test('begin with the claims that there are, and go on with those of processes of the version before', async () => {
    const { db } = await open()
    await saveEvent(db, { eventId: 7, record: {}, coordinates: '0,0', expiresAtMs: undefined, nowMs: NOW })
    await takeAway(db)
    await addClaims(db, 1, 300)

    await db.transaction().execute((tx) => up(tx as never))
    await addClaims(db, 301, 400)

    expect(await countCodes(db, 7)).toEqual({ free: 0, held: 400, used: 0, used_elsewhere: 0, void: 0 })
    const counts = { reserved: 400, minting: 0, minted: 0, failed: 0, released: 0 }
    expect(await countClaims(db, 7, NOW + HOUR_MS)).toEqual({
      total: counts,
      hours: [{ hourMs: NOW - HOUR_MS / 2, ...counts }],
    })
  })
})
