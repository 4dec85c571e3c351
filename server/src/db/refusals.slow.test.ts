import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { describeOnBothEngines } from '../../test/support/database/engines.ts'
import { checkDatabase } from './check-database.ts'
import type { Db } from './engine.ts'
import { toOwnError } from './statement-error.ts'
import { inTransaction } from './transaction.ts'
import { WriteRefusals } from './write-refusals.ts'

/** Fails as the database does in this state; `hush` stands for a text of the driver. */
const failWith = (db: Db, state: string) =>
  sql.raw(`do $$ begin raise exception 'hush' using errcode = '${state}'; end $$`).execute(db)

describeOnBothEngines('a database that cannot do its work', (open) => {
  test.each([
    ['25006', 'database_read_only'],
    ['53100', 'database_full'],
    ['53200', 'database_full'],
    ['53300', 'database_unavailable'],
    ['57P03', 'database_unavailable'],
    ['08006', 'database_unavailable'],
  ])('answers %s as %s, with a time to try again and no text of the driver', async (state, code) => {
    const { db } = await open()

    const error = await failWith(db, state).catch((failure) => failure)

    expect(error).toMatchObject({ code, status: 503, data: { retry_after_s: 5 } })
    expect(error.message).not.toContain('hush')
    expect(error.cause, 'for the log').toContain(`${state} hush`)
  })

  test('is not ready for writes while it is read-only, and is for reads', async () => {
    const engine = await open()
    await inTransaction(engine.db, async (tx) => {
      await sql`set transaction read only`.execute(tx)
      const readOnly = { ...engine, db: tx, refusedWrites: () => undefined }
      await checkDatabase(readOnly, { writes: false })
      await expect(checkDatabase(readOnly, { writes: true })).rejects.toMatchObject({
        code: 'database_read_only',
      })
    })
    await checkDatabase(engine, { writes: true })
  })

  test('is not ready for writes for some seconds after a write failed for want of space', async () => {
    const engine = await open({ mode: 'join' })
    await failWith(engine.db, '53100').catch(() => undefined)

    await expect(checkDatabase(engine, { writes: true })).rejects.toMatchObject({ code: 'database_full' })
    await checkDatabase(engine, { writes: false })
  })
})

describe('errors of a driver', () => {
  test.each([
    [
      Object.assign(new Error('connect ECONNREFUSED 10.1.2.3:5432'), { code: 'ECONNREFUSED' }),
      'ECONNREFUSED',
    ],
    [new Error('Query read timeout'), 'Query read timeout'],
    [new Error('Connection terminated unexpectedly'), 'Connection terminated unexpectedly'],
    [Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }), 'EPIPE'],
    [new AggregateError([Object.assign(new Error('a'), { code: 'ECONNREFUSED' })], ''), 'ECONNREFUSED'],
  ])('that mean a lost connection are database_unavailable: %s', (error, reason) => {
    expect(toOwnError(error)).toMatchObject({
      code: 'database_unavailable',
      message: 'The database did not answer.',
      cause: reason,
    })
  })
})

test('a refused write is remembered for ten seconds of a clock that cannot be set', () => {
  let steadyMs = 1_000
  const refusals = new WriteRefusals(() => steadyMs)
  refusals.note('database_unavailable')
  expect(refusals.recent()).toBeUndefined()

  refusals.note('database_full')

  steadyMs += 9_999
  expect(refusals.recent()).toBe('database_full')
  steadyMs += 1
  expect(refusals.recent()).toBeUndefined()
})
