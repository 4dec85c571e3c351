import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { describeOnOneEngine } from '../../test/support/database/engines.ts'
import { testClock } from '../../test/support/http/land-server.ts'
import { ON_CITUS } from '../../test/support/run/prepared.ts'
import { countReserved, takeDueClaims } from '../attendance/claims/claim-queries.ts'
import { refusalsByCode } from '../attendance/claims/refusal-queries.ts'
import { Refusals } from '../attendance/claims/refusals.ts'
import { insertClaim } from '../attendance/claims/reserve-queries.ts'
import { mergeCodes } from '../attendance/codes/code-queries.ts'
import { putLoad } from '../attendance/codes/load-queries.ts'
import { saveEvent } from '../attendance/events/event-queries.ts'
import { Vault } from '../attendance/secrets/vault.ts'
import { checkVault } from '../attendance/setup-problem.ts'
import { deleteUntil, isPartial, unlessWorkerLost } from './all-events.ts'
import { workerStates } from './distribution.ts'
import type { Db } from './engine.ts'
import { databaseUnavailable } from './statement-error.ts'

/** What this code uses of Citus, where worker 1 is this server, worker 2 is down, and 5, which has no rows, is silent. */
const ONE_WORKER_DOWN = `
  insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
    values (99999, 'citus', 10, 'public'::regnamespace, false, '13');
  create table pg_dist_node as select node as groupid, 'worker' as nodename, node as nodeport, 'primary' as noderole,
    true as isactive from generate_series(1, 2) as node;
  insert into pg_dist_node values (0, 'coordinator', 3, 'primary', true), (1, 'secondary', 3, 'secondary', true),
    (1, 'removed', 4, 'primary', false), (5, 'worker', 5, 'primary', true);
  create table pg_dist_placement as select node as shardid, node as groupid from generate_series(1, 2) as node;
  create table pg_dist_shard as select shardid, name::regclass as logicalrelid from pg_dist_placement
    cross join unnest('{claim,event_hold,claim_code,code_load,grant_secret}'::text[]) as name;
  create function shard_name(regclass, integer) returns text language sql as $$ select $1::text $$;
  create function master_run_on_worker(text[], integer[], commands text[], boolean, out success boolean, out result text)
    returns setof record language plpgsql as $$
    begin
      if $2[1] = 5 then raise query_canceled; end if;
      success := $2[1] <> 2;
      result := 'worker 2 was asked';
      if success then execute commands[1] into result; end if;
      return next;
    end $$;
`

describeOnOneEngine('a database of several servers, of which one is down', (open) => {
  const clock = testClock()
  const nowMs = clock.nowMs()
  const vault = new Vault(Buffer.alloc(32, 3))

  async function givenClaim(db: Db, eventId: number): Promise<void> {
    await saveEvent(db, { eventId, record: {}, coordinates: '0,0', expiresAtMs: undefined, nowMs })
    await mergeCodes(db, vault, { eventId, listed: [{ code: `c${eventId}`, isClaimed: false }], nowMs })
    const claim = { eventId, address: '0xann', nowMs, nextStepAtMs: nowMs }
    await insertClaim(db, claim, { request: undefined, wait: true })
  }

  test.skipIf(ON_CITUS)('the others are read and written, each event alone', async () => {
    const { db } = await open()
    await givenClaim(db, 1)
    await givenClaim(db, 2)
    const encrypted = new Vault(Buffer.alloc(32, 4)).encrypt('edit-code', '012345', '1')
    await putLoad(db, { eventId: 1, encrypted, untilMs: nowMs + 1 }, nowMs)
    await sql.raw(ONE_WORKER_DOWN).execute(db)
    expect(isPartial(db)).toBe(false)

    const lost = await unlessWorkerLost(db, async () => Promise.reject(databaseUnavailable('worker 2')))
    const refusals = new Refusals({ db, clock })
    refusals.add(1, 'not_at_event')
    await sql`alter table attendance_refusal rename to renamed`.execute(db)
    await expect(refusals.flush(), 'an error that no worker caused').rejects.toThrow('attendance_refusal')
    await sql`alter table renamed rename to attendance_refusal`.execute(db)
    await refusals.flush()
    const reserved = await countReserved(db)
    const taken = await takeDueClaims(db, { nowMs, leaseUntilMs: nowMs + 30_000, limit: 5 })

    expect([lost, isPartial(db)]).toEqual([undefined, true])
    expect([...(await workerStates(db))]).toEqual([
      ['worker:1', true],
      ['worker:2', false],
      ['worker:5', false],
    ])
    expect(await refusalsByCode(db, 1)).toEqual([{ code: 'not_at_event', count: 1 }])
    expect(reserved).toBe(2)
    expect(taken.map(({ eventId }) => eventId).sort()).toEqual([1, 2])
    await sql`update pg_dist_shard set shardid = 2 where logicalrelid = 'claim_code'::regclass`.execute(db)
    const problem = await checkVault(db, vault, { nowMs, log: { warn: () => {} } })
    expect(problem, 'no code is there, but an edit code of a lost key').toBeUndefined()
    await deleteUntil(db, 'code_load', { column: 'until_ms', lastMs: nowMs + 1 })
    expect(await db.selectFrom('code_load').selectAll().execute()).toEqual([])
  })
})
