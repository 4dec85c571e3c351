import { sql } from 'kysely'
import { expect, test } from 'vitest'
import {
  describeOnBothEngines,
  freshDatabaseUrl,
  TEST_SETTINGS,
} from '../../../test/support/database/engines.ts'
import { countWaiting } from '../../../test/support/database/lock-waits.ts'
import { testClock } from '../../../test/support/http/land-server.ts'
import { eventually } from '../../../test/support/processes/landpass.ts'
import { ON_CITUS } from '../../../test/support/run/prepared.ts'
import { HOUR_MS, MINUTE_MS } from '../../clock.ts'
import type { Db, Engine } from '../../db/engine.ts'
import { openEngine } from '../../db/open-engine.ts'
import { inTransaction } from '../../db/transaction.ts'
import { saveEvent } from '../events/event-queries.ts'
import { Vault } from '../secrets/vault.ts'
import { withdrawOpen } from './delete-queries.ts'
import { countGrants, replaceSecret } from './grant-queries.ts'
import { Grants } from './grants.ts'

const [ANN, BEN] = [
  '0x00000000000000000000000000000000000000aa',
  '0x00000000000000000000000000000000000000bb',
]
const EVENT = 7
const clock = testClock()
const NOW = clock.nowMs()
const later = { address: BEN, eventId: EVENT, expiresAtMs: NOW + HOUR_MS }

// A lock of an event, which is on every node of a distributed database, holds up all events
test.skipIf(ON_CITUS)('a new secret waits for grants while it holds nothing that they need', async () => {
  const { engines, url } = await postgres(3)
  const [db, ofGiver, ofMaker] = engines.map((engine) => engine.db) as [Db, Db, Db]
  await givenExpired(db, 1)
  const id = await currentSecret(db)
  let both: Promise<unknown> | undefined

  await inTransaction(db, async (tx) => {
    // As a cleanup: first the grant, then the event
    await sql`select from attendance_grant where event_id = ${EVENT} for update`.execute(tx)
    const giving = grantsOn(ofGiver).give({ ...later, nonce: '1' }, id)
    await untilWaiting(tx, 1)
    both = Promise.all([giving, grantsOn(ofMaker).makeSecret(EVENT, { keepPreviousMs: HOUR_MS })])
    await untilWaiting(tx, 2)
    await sql`select from attendance_event where event_id = ${EVENT} for no key update nowait`.execute(tx)
  })

  expect(await both).toMatchObject(['accepted', { previousEndsAtMs: NOW + HOUR_MS }])
  expect(await deadlocksAfter(engines, url)).toBe(0)
})

// Each server of a distributed database counts its own deadlocks
test.skipIf(ON_CITUS)(
  'many new secrets and grants that reuse expired nonces meet without a deadlock',
  async () => {
    const { engines, url } = await postgres(2)
    const [db, other] = engines.map((engine) => engine.db) as [Db, Db]
    const [many, secrets] = [1_500, 40]
    await givenExpired(db, many)
    const [makers, givers] = [grantsOn(db), grantsOn(other)]
    let [made, given] = [0, 0]
    const make = async () => {
      for (; made < secrets; made++) await makers.makeSecret(EVENT, { keepPreviousMs: HOUR_MS })
    }
    const give = async () => {
      while (made < secrets && given < many) {
        const grant = { ...later, nonce: String(++given) }
        // Refused where two secrets were made since
        const secretId = await currentSecret(other)
        await givers.give(grant, secretId).catch(({ code }) => expect(code).toBe('bad_grant'))
      }
    }

    await Promise.all([make(), make(), give(), give(), give(), give()])

    expect(await countSecrets(db)).toBe(2)
    expect(await deadlocksAfter(engines, url)).toBe(0)
  },
)

describeOnBothEngines('secrets of grants', (open) => {
  test('that are made at the same time for an event without one are made one after the other', async () => {
    const { db } = await open()
    const { db: other } = await open()
    await givenEvent(db)

    const made = await Promise.all(
      [db, other, db, other].map((one) => grantsOn(one).makeSecret(EVENT, { keepPreviousMs: HOUR_MS })),
    )

    expect(made.filter(({ previousEndsAtMs }) => previousEndsAtMs === null)).toHaveLength(1)
    expect(await countSecrets(db)).toBe(2)
  })

  test('say which grants are older: a withdrawal that goes on later leaves the others', async () => {
    const { db } = await open()
    const grants = grantsOn(db)
    await sql`insert into attendance_grant (event_id, nonce, address, expires_at_ms)
      values (${EVENT}, 'expired', ${ANN}, ${NOW - 1}), (${EVENT}, 'forged', ${ANN}, ${NOW + HOUR_MS})`.execute(
      db,
    )
    const secret = { eventId: EVENT, encrypted: Buffer.alloc(32), nowMs: NOW, previousUntilMs: NOW }
    const { storedBefore } = await replaceSecret(db, secret)
    const withdraw = () => withdrawOpen(db, EVENT, { nowMs: NOW, batchRows: 2, storedBefore })
    await grants.give({ ...later, nonce: 'first' }, await currentSecret(db))
    await grants.makeSecret(EVENT)
    for (const nonce of ['second', 'third', 'expired'])
      await grants.give({ ...later, nonce }, await currentSecret(db))

    expect([await withdraw(), await withdraw()]).toEqual([1, 0])
    expect(await countGrants(db, EVENT, NOW)).toMatchObject({ open: 4, expired: 2 })
  })
})

/** Engines on a new database, each with its own connections. */
async function postgres(
  count: number,
): Promise<{ readonly engines: readonly Engine[]; readonly url: string }> {
  const url = await freshDatabaseUrl()
  const opening = Array.from({ length: count }, () => openEngine({ ...TEST_SETTINGS, databaseUrl: url }))
  return { engines: await Promise.all(opening), url }
}

/** Closes the engines first: a connection counts its deadlocks at its end, or seconds after they happened. */
async function deadlocksAfter(engines: readonly Engine[], databaseUrl: string): Promise<number> {
  await Promise.all(engines.map((engine) => engine.close()))
  const engine = await openEngine({ ...TEST_SETTINGS, databaseUrl })
  const others = async () => {
    const { rows } = await sql<{ others: number }>`
      select count(*)::integer as others from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`.execute(
      engine.db,
    )
    return rows[0]!.others
  }
  await eventually(others, (count) => count === 0, MINUTE_MS)
  const { rows } = await sql<{ deadlocks: number }>`
    select deadlocks::integer from pg_stat_database where datname = current_database()`.execute(engine.db)
  await engine.close()
  return rows[0]!.deadlocks
}

function grantsOn(db: Db): Grants {
  return new Grants({
    db,
    clock,
    vault: new Vault(Buffer.alloc(32, 5)),
    maxOpen: 10_000,
    maxOpenOfAll: 10_000,
  })
}

async function givenEvent(db: Db): Promise<void> {
  await saveEvent(db, {
    ...{ eventId: EVENT, record: {}, coordinates: '3,4', expiresAtMs: undefined, nowMs: NOW },
  })
}

/** An event with a secret, and grants that expired. */
async function givenExpired(db: Db, count: number): Promise<void> {
  await givenEvent(db)
  await grantsOn(db).makeSecret(EVENT)
  await sql`insert into attendance_grant (event_id, nonce, address, expires_at_ms)
    select ${EVENT}::integer, n::text, ${ANN}, ${NOW - 1}::bigint
    from generate_series(1, ${count}::integer) as n`.execute(db)
}

async function currentSecret(db: Db): Promise<number> {
  const current = db.selectFrom('grant_secret').select('id').where('valid_until_ms', 'is', null)
  return (await current.executeTakeFirstOrThrow()).id
}

async function countSecrets(db: Db): Promise<number> {
  return (await db.selectFrom('grant_secret').select('id').execute()).length
}

async function untilWaiting(db: Db, count: number): Promise<void> {
  await eventually(
    () => countWaiting(db),
    (waiting) => waiting === count,
    MINUTE_MS,
  )
}
