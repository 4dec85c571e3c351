import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { acceptClaims, findClaim, takeDueClaims } from '../../attendance/claims/claim-queries.ts'
import { mergeCodes } from '../../attendance/codes/code-queries.ts'
import { findEvent, saveEvent } from '../../attendance/events/event-queries.ts'
import { FIRST_OWN_EVENT_ID } from '../../attendance/issuer/own-event-ids.ts'
import { readNextEventNumber } from '../../attendance/own-issuer/made-events/made-event-queries.ts'
import { Vault } from '../../attendance/vault.ts'
import type { Db } from '../engine.ts'
import { up } from './0011-own-issuer.ts'

const NOW = Date.parse('2026-11-20T12:00:00.000Z')
const EVENT = 90_001
const NEW_TABLES = ['token_log_root', 'token_log', 'token', 'made_event', 'token_key']
const vault = new Vault(Buffer.alloc(32, 3))

describeOnBothEngines('the tables of our own issuer', (open, kind) => {
  /** As the server of the version before does it, which knows none of the new tables. */
  const register = (db: Db) =>
    saveEvent(db, {
      eventId: EVENT,
      record: { id: EVENT, name: 'Before' },
      coordinates: '0,0',
      expiresAtMs: undefined,
      nowMs: NOW,
    })
  const loadCodes = (db: Db, ...codes: readonly string[]) =>
    mergeCodes(db, vault, {
      eventId: EVENT,
      listed: codes.map((code) => ({ code, isClaimed: false })),
      nowMs: NOW,
    })
  /** The statement of that version. @returns the number of the claim */
  const claim = async (db: Db, address: string): Promise<number | undefined> => {
    const { rows } = await sql<{ id: number }>`
      with taken as (
        update claim_code set state = 'held'
        where state = 'free' and id = (
          select id from claim_code where event_id = ${EVENT} and state = 'free' order by id limit 1 for update
        )
        returning id
      )
      insert into claim (event_id, address, code_id, state, attempts, next_step_at_ms, created_at_ms, updated_at_ms)
      select ${EVENT}::integer, ${address}::text, id, 'reserved', 0, ${NOW}::bigint, ${NOW}::bigint, ${NOW}::bigint
      from taken returning id`.execute(db)
    return rows[0]?.id
  }

  test('come while a server of the version before claims, registers and loads codes', async () => {
    const { db } = await open()
    // The database as the version before made it
    await sql`drop table made_event_change`.execute(db)
    for (const table of ['attendance_gift', 'event_edit_code'])
      await sql`drop table ${sql.table(table)}`.execute(db)
    for (const table of NEW_TABLES) await sql`drop table ${sql.table(table)}`.execute(db)
    await sql`drop sequence made_event_number`.execute(db)
    await register(db)
    await loadCodes(db, 'a1', 'a2', 'a3')
    const ann = await claim(db, '0xann')

    const migrate = async (on: Db) => on.transaction().execute((tx) => up(tx as never))
    if (kind === 'postgres') {
      // A change by the other server is under way when the migration begins: both come through
      const other = await open()
      let migrating: Promise<void> | undefined
      await other.db.transaction().execute(async (tx) => {
        await sql`update attendance_event set enabled = false where event_id = ${EVENT}`.execute(tx)
        migrating = migrate(db)
        await sql`update attendance_event set enabled = true where event_id = ${EVENT}`.execute(tx)
      })
      await migrating
    } else await migrate(db)

    // The server of the version before goes on with its claims, old and new
    const due = await takeDueClaims(db, { nowMs: NOW, leaseUntilMs: NOW + 30_000, limit: 10 })
    expect(due.map(({ id }) => id)).toEqual([ann])
    await acceptClaims(db, [{ claim: due[0]!, nextStepAtMs: NOW + 60_000 }], NOW)
    expect((await findClaim(db, EVENT, '0xann'))?.state).toBe('minting')
    await register(db)
    await loadCodes(db, 'a1', 'a2', 'a3', 'a4')
    expect(await claim(db, '0xben')).toBeDefined()
    expect(await findEvent(db, { eventId: EVENT })).toMatchObject({ issuer_record: { name: 'Before' } })
    // Events made here have numbers that no event of the other issuer has
    expect(await readNextEventNumber(db)).toBe(FIRST_OWN_EVENT_ID)
    const counts = await sql<{ made: number }>`select count(*)::int as made from made_event`.execute(db)
    expect(counts.rows).toEqual([{ made: 0 }])
  })
})
