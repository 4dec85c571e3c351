import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { freshEngine } from '../../test/support/database/engines.ts'
import type { Db } from './engine.ts'
import { MAX_TRIES, withRetries } from './retries.ts'
import { StatementError } from './statement-error.ts'
import { inTransaction } from './transaction.ts'

const open = freshEngine('postgres')
const deadlock = () => new StatementError('deadlock detected', { code: '40P01' })

/** Chance and pauses of a test: 0.5 each time, and no time passes. */
function fixedTiming() {
  const pausesMs: number[] = []
  const pause = async (ms: number) => void pausesMs.push(ms)
  return { random: () => 0.5, pause, pausesMs }
}

test('deadlocks and serialization failures are tried again, with pauses that grow, a bounded number of times', async () => {
  const timing = fixedTiming()
  let tries = 0
  const hopeless = withRetries(async () => {
    tries += 1
    throw deadlock()
  }, timing)

  await expect(hopeless).rejects.toMatchObject({ code: 'database_unavailable' })
  expect(tries).toBe(MAX_TRIES)
  expect(timing.pausesMs).toEqual([10, 20, 40, 80])
})

test('other errors are not tried again', async () => {
  const timing = fixedTiming()
  const unique = new StatementError('duplicate key', { code: '23505' })

  await expect(withRetries(() => Promise.reject(unique), timing)).rejects.toBe(unique)
  expect(timing.pausesMs).toEqual([])
})

test('of two transactions in a deadlock both are committed, each once', async () => {
  const { db } = await open()
  await sql`create table account (id integer primary key, coins integer)`.execute(db)
  await sql`insert into account values (1, 0), (2, 0)`.execute(db)
  let begun = 0
  let bothBegun = () => {}
  const meeting = new Promise<void>((resolve) => (bothBegun = resolve))
  const add = (first: number, second: number) =>
    inTransaction(db, async (tx) => {
      await sql`set local deadlock_timeout = '5ms'`.execute(tx)
      await addCoin(tx, first)
      if (++begun === 2) bothBegun()
      await meeting
      await addCoin(tx, second)
    })

  await Promise.all([add(1, 2), add(2, 1)])

  expect(begun, 'one of them began again').toBeGreaterThan(2)
  expect((await sql`select id, coins from account order by id`.execute(db)).rows).toEqual([
    { id: 1, coins: 2 },
    { id: 2, coins: 2 },
  ])
})

test('a single statement is tried again when another transaction made it fail', async () => {
  const { db } = await open()
  await sql`create sequence tries`.execute(db)
  await sql`create function fail_once() returns bigint language plpgsql as $$
    declare n bigint := nextval('tries');
    begin
      if n = 1 then raise exception 'disturbed' using errcode = '40001'; end if;
      return n;
    end $$`.execute(db)

  expect((await sql`select fail_once() as n`.execute(db)).rows).toEqual([{ n: 2 }])
})

function addCoin(db: Db, id: number) {
  return sql`update account set coins = coins + 1 where id = ${id}`.execute(db)
}
