import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { describeOnOneEngine } from '../../../test/support/database/engines.ts'
import { countWaiting } from '../../../test/support/database/lock-waits.ts'
import { testClock } from '../../../test/support/http/land-server.ts'
import { eventually } from '../../../test/support/processes/landpass.ts'
import { ON_CITUS } from '../../../test/support/run/prepared.ts'
import { HOUR_MS, MINUTE_MS } from '../../clock.ts'
import { DELETE_BATCH_ROWS } from '../../db/all-events.ts'
import type { Db } from '../../db/engine.ts'
import { inTransaction } from '../../db/transaction.ts'
import { type Event, saveEvent } from '../events/event-queries.ts'
import { Vault } from '../secrets/vault.ts'
import { countGrants, insertGrant } from './grant-queries.ts'
import { Grants } from './grants.ts'

const BEN = '0x00000000000000000000000000000000000000bb'
const vault = new Vault(Buffer.alloc(32, 5))
const clock = testClock()
const NOW = clock.nowMs()
const EXPIRES = NOW + HOUR_MS
let lastEvent = 0

describeOnOneEngine('grants that are withdrawn with their secret', (open) => {
  let db: Db
  let grants: Grants
  let event: Event

  beforeEach(async () => {
    db = (await open()).db
    grants = new Grants({ db, clock, vault, maxOpen: 100, maxOpenOfAll: 1_000 })
    const nowMs = NOW
    event = await saveEvent(db, {
      ...{ eventId: ++lastEvent, record: {}, coordinates: '3,4', expiresAtMs: undefined, nowMs },
    })
  })

  const counts = () => countGrants(db, event.event_id, NOW)
  const findSigner = (secret: string) => {
    const signature = createHmac('sha256', secret).update(`${event.uuid}\n{}`).digest('hex')
    return grants.findSigner({ uuid: event.uuid, body: Buffer.from('{}'), signature })
  }

  // Distributed tables have no triggers, by which this test interrupts
  test.skipIf(ON_CITUS)(
    'are deleted in small statements, after the new secret is the current one',
    async () => {
      const { event_id: id } = event
      const { secret: known } = await grants.makeSecret(id)
      const many = 2 * DELETE_BATCH_ROWS + 1
      await sql`insert into attendance_grant (event_id, nonce, address, expires_at_ms)
      select ${id}::integer, n::text, ${BEN}, ${EXPIRES}::bigint + n / 700
      from generate_series(1, ${many}::integer) as n`.execute(db)
      const deletions = await noteDeletions(db, DELETE_BATCH_ROWS + 1)

      // The second statement fails, as one that meets the time limit does
      await expect(grants.makeSecret(id, { withdrawsOpen: true })).rejects.toThrow()
      await expect(findSigner(known), 'it has ended although not all is withdrawn').rejects.toMatchObject({
        code: 'bad_grant',
      })
      await deletions.allow()
      const { withdrawn } = await grants.makeSecret(id, { withdrawsOpen: true })
      const sizes = await deletions.sizes()
      await deletions.end()

      expect(withdrawn).toBe(many - DELETE_BATCH_ROWS)
      expect(sizes).toEqual([DELETE_BATCH_ROWS, DELETE_BATCH_ROWS, 1])
      expect(await counts()).toEqual({ open: 0, used: 0, expired: many })
    },
  )

  test('include the one that another process is storing: the new secret waits for it', async () => {
    const { db: other } = await open()
    const { secret } = await grants.makeSecret(event.event_id)
    const { eventId, secretId } = await findSigner(secret)
    const grant = { eventId, address: BEN, nonce: 'forged', expiresAtMs: EXPIRES }
    let made: ReturnType<Grants['makeSecret']> | undefined

    await inTransaction(other, async (tx) => {
      expect(await insertGrant(tx, { grant, secretId, nowMs: NOW })).toBe('stored')
      made = grants.makeSecret(eventId, { withdrawsOpen: true })
      await Promise.race([
        made,
        eventually(
          () => countWaiting(tx),
          (waiting) => waiting > 0,
          MINUTE_MS,
        ),
      ])
    })

    expect(await made).toMatchObject({ withdrawn: 1 })
    expect(await counts()).toEqual({ open: 0, used: 0, expired: 1 })
  })

  test('do not include those signed with a secret that another call makes meanwhile', async () => {
    const { event_id: id } = event
    const { db: other } = await open()
    const impatient = new Grants({ db: other, clock, vault, maxOpen: 2_000, maxOpenOfAll: 10_000 })
    await grants.makeSecret(id)
    await sql`insert into attendance_grant (event_id, nonce, address, expires_at_ms)
      select ${id}::integer, n::text, ${BEN}, ${EXPIRES}::bigint
      from generate_series(1, ${DELETE_BATCH_ROWS + 1}::integer) as n`.execute(db)
    let first: ReturnType<Grants['makeSecret']> | undefined

    await inTransaction((await open()).db, async (tx) => {
      // The first statement that deletes waits for this transaction
      await sql`select from attendance_grant where event_id = ${id} for update`.execute(tx)
      first = grants.makeSecret(id, { withdrawsOpen: true })
      await eventually(
        () => countWaiting(tx),
        (waiting) => waiting > 0,
        MINUTE_MS,
      )
      const { secret } = await impatient.makeSecret(id)
      const { secretId } = await findSigner(secret)
      await impatient.give({ eventId: id, address: BEN, nonce: 'right', expiresAtMs: EXPIRES + 1 }, secretId)
    })

    expect(await first).toMatchObject({ withdrawn: DELETE_BATCH_ROWS + 1 })
    expect(await counts()).toEqual({ open: 1, used: 0, expired: DELETE_BATCH_ROWS + 1 })
  })
})

/** Notes how many grants each statement deletes; from the one that comes to `failAt` in all they fail, until `allow`. */
async function noteDeletions(db: Db, failAt: number) {
  const run = async (statements: readonly string[]) => {
    for (const statement of statements) await sql.raw(statement).execute(db)
  }
  await run([
    `create table deletions (n integer generated always as identity, size integer not null)`,
    `create table deletions_fail_at (total integer not null)`,
    `insert into deletions_fail_at values (${failAt})`,
    `create function note_deletion() returns trigger language plpgsql as $$ begin
      insert into deletions (size) select count(*) from gone;
      if (select sum(size) from deletions) >= (select total from deletions_fail_at) then
        raise exception 'too late';
      end if;
      return null;
    end $$`,
    `create trigger note_deletion after delete on attendance_grant
      referencing old table as gone for each statement execute function note_deletion()`,
  ])
  return {
    allow: () => run(['delete from deletions_fail_at']),
    sizes: async (): Promise<readonly number[]> => {
      const { rows } = await sql<{ size: number }>`select size from deletions order by n`.execute(db)
      return rows.map(({ size }) => size)
    },
    end: () => run(['drop function note_deletion cascade', 'drop table deletions, deletions_fail_at']),
  }
}
