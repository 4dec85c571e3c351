import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { describeOnBothEngines } from '../../test/support/database/engines.ts'
import { AppError } from '../errors.ts'
import { StatementError } from './statement-error.ts'
import { inTransaction } from './transaction.ts'

describeOnBothEngines('both engines', (open) => {
  test('give the same JavaScript value for the same SQL value', async () => {
    const { db } = await open()

    const { rows } = await sql`
      select 9007199254740991::bigint as int8, 7::integer as int4, 1.50::numeric as numeric, true as bool,
        '{"a": [1, null]}'::jsonb as jsonb, 'c0ffee00-0000-4000-8000-000000000001'::uuid as uuid,
        null::text as nothing, '' as empty, 'ü😀' as text, array[1, 2]::bigint[] as int8s,
        array[1.10]::numeric[] as numerics, array['a', null] as texts, count(*) as count, sum(1::bigint) as sum,
        timestamptz '2026-01-02 03:04:05Z' as moment, 1.5::float8 as float
    `.execute(db)

    expect(rows).toEqual([
      {
        int8: 9007199254740991,
        int4: 7,
        numeric: '1.50',
        bool: true,
        jsonb: { a: [1, null] },
        uuid: 'c0ffee00-0000-4000-8000-000000000001',
        nothing: null,
        empty: '',
        text: 'ü😀',
        int8s: [1, 2],
        numerics: ['1.10'],
        texts: ['a', null],
        count: 1,
        sum: '1',
        moment: new Date('2026-01-02T03:04:05Z'),
        float: 1.5,
      },
    ])
  })

  test('take the same JavaScript values as parameters', async () => {
    const { db } = await open()
    const json = JSON.stringify({ deep: [{ er: 'ü' }] })

    const { rows } = await sql`
      select ${7}::integer as int4, ${9007199254740991n}::bigint as int8, ${'1.10'}::numeric as numeric,
        ${true}::boolean as bool, ${null}::text as nothing, ${json}::jsonb as jsonb, ${['a', 'b"c']}::text[] as texts,
        ${new Date(0)}::timestamptz as moment, ${Buffer.from([0, 255])}::bytea = '\\x00ff'::bytea as bytes
    `.execute(db)

    expect(rows).toEqual([
      {
        int4: 7,
        int8: 9007199254740991,
        numeric: '1.10',
        bool: true,
        nothing: null,
        jsonb: { deep: [{ er: 'ü' }] },
        texts: ['a', 'b"c'],
        moment: new Date(0),
        bytes: true,
      },
    ])
  })

  test('refuse a bigint that JavaScript cannot hold', async () => {
    const { db } = await open()

    await expect(sql`select 9007199254740992::bigint`.execute(db)).rejects.toThrow(
      'bigint 9007199254740992 is not a safe integer',
    )
    expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }])
  })

  test('say how many rows a statement changed', async () => {
    const { db } = await open()
    await sql`create table counted (n integer)`.execute(db)

    expect((await sql`insert into counted values (1), (2), (3)`.execute(db)).numAffectedRows).toBe(3n)
    expect((await sql`update counted set n = 0 where n > 1`.execute(db)).numAffectedRows).toBe(2n)
    expect((await sql`select * from counted`.execute(db)).numAffectedRows).toBeUndefined()
  })

  test('answer a violated constraint by its code and name, without any value', async () => {
    const { db } = await open()
    await sql`create table secret (id text constraint one_secret primary key)`.execute(db)
    await sql`insert into secret values (${'hush'})`.execute(db)

    const error = await sql`insert into secret values (${'hush'})`.execute(db).catch((failure) => failure)

    expect(error).toBeInstanceOf(StatementError)
    expect(error).toMatchObject({ code: '23505', constraint: 'one_secret', table: 'secret' })
    const everything = JSON.stringify(error, Object.getOwnPropertyNames(error)) + error.stack
    expect(everything).not.toContain('hush')
    expect(everything).not.toContain('insert into')
  })

  test('fail a statement that exceeds its time limit, and run the next', async () => {
    const { db } = await open({ statementTimeoutMs: 300 })

    const error = await sql`select pg_sleep(0.6)`.execute(db).catch((failure) => failure)

    expect(error).toBeInstanceOf(AppError)
    expect(error.code).toBe('database_unavailable')
    const patient = await open({ statementTimeoutMs: 10_000 })
    expect((await sql`select 1 as one`.execute(patient.db)).rows).toEqual([{ one: 1 }])
  })

  test('refuse JSON that is nested too deeply, before the database sees it', async () => {
    const { db } = await open()
    const deep = '['.repeat(5_000) + ']'.repeat(5_000)

    await expect(sql`select ${deep}::jsonb`.execute(db)).rejects.toMatchObject({ code: 'invalid_body' })
    expect((await sql`select ${'[[]]'}::jsonb as shallow`.execute(db)).rows).toEqual([{ shallow: [[]] }])
  })

  test('run several statements of one text, as migrations do', async () => {
    const { db } = await open()

    await sql.raw(`create table several (n integer); insert into several values (1), (2)`).execute(db)

    expect((await sql`select count(*) as count from several`.execute(db)).rows).toEqual([{ count: 2 }])
  })

  test('count their connections, and can be maintained', async () => {
    const engine = await open()
    await engine.maintain()

    const { total, idle, waiting } = engine.pool()
    expect({ atRest: total - idle, waiting }).toEqual({ atRest: 0, waiting: 0 })
  })

  describe('transactions', () => {
    test('are not seen by another session before they are committed', async () => {
      const [writer, reader] = [await open(), await open()]
      await sql`create table seen (n integer)`.execute(writer.db)
      const count = async () =>
        (await sql<{ n: number }>`select count(*) as n from seen`.execute(reader.db)).rows[0]?.n

      let early: Promise<number | undefined> | undefined
      await inTransaction(writer.db, async (tx) => {
        await sql`insert into seen values (1)`.execute(tx)
        // Begun inside, but of another engine: it sees the table before or after this transaction, never within
        early = count()
        await sql`insert into seen values (2)`.execute(tx)
        await sql`delete from seen where n = 1`.execute(tx)
        await sql`insert into seen values (3), (4)`.execute(tx)
      })

      expect([0, 3]).toContain(await early)
      expect(await count()).toBe(3)
    })

    test('of many writers at once are all committed, each on its own', async () => {
      const { db } = await open()
      await sql`create table account (id integer primary key, coins integer check (coins >= 0))`.execute(db)
      await sql`insert into account values (1, 10), (2, 0)`.execute(db)
      const pay = (coins: number) =>
        inTransaction(db, async (tx) => {
          await sql`update account set coins = coins + ${coins} where id = 2`.execute(tx)
          await sql`update account set coins = coins - ${coins} where id = 1`.execute(tx)
        })

      const outcomes = await Promise.allSettled(Array.from({ length: 15 }, () => pay(1)))

      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
      const { rows } = await sql`select id, coins from account order by id`.execute(db)
      expect(rows).toEqual([
        { id: 1, coins: 0 },
        { id: 2, coins: 10 },
      ])
    })

    test('refuse the outer handle inside instead of waiting for ever', async () => {
      const { db } = await open()

      const mistake = inTransaction(db, () => sql`select 1`.execute(db))

      await expect(mistake).rejects.toThrow('use the transaction (tx) there')
      expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }])
    })

    test('refuse to commit after a swallowed error', async () => {
      const { db } = await open()
      await sql`create table swallowed (n integer)`.execute(db)

      const mistake = inTransaction(db, async (tx) => {
        await sql`insert into swallowed values (1)`.execute(tx)
        await sql`select 1 / 0`.execute(tx).catch(() => {})
      })

      await expect(mistake).rejects.toThrow('its error was swallowed')
      expect((await sql`select * from swallowed`.execute(db)).rows).toEqual([])
    })

    test('go on after an error that a savepoint took back', async () => {
      const { db } = await open()
      await sql`create table saved (n integer)`.execute(db)

      const tx = await db.startTransaction().execute()
      await sql`insert into saved values (1)`.execute(tx)
      const inner = await tx.savepoint('before').execute()
      await sql`select 1 / 0`.execute(inner).catch(() => {})
      const back = await inner.rollbackToSavepoint('before').execute()
      await back.commit().execute()

      expect((await sql`select n from saved`.execute(db)).rows).toEqual([{ n: 1 }])
    })
  })

  describe('notifications', () => {
    test('arrive when the transaction is committed, at every engine that listens', async () => {
      const [sender, hearer] = [await open(), await open()]
      const heard: string[] = []
      let arrive = () => {}
      const arrived = new Promise<void>((resolve) => {
        arrive = resolve
      })
      await hearer.listen('Land "changed"', (payload) => {
        heard.push(payload)
        if (payload === 'committed') arrive()
      })

      const rolledBack = inTransaction(sender.db, async (tx) => {
        await sql`select pg_notify('Land "changed"', 'rolled back')`.execute(tx)
        throw new Error('back')
      })
      await expect(rolledBack).rejects.toThrow('back')
      await sql`select pg_notify('other', 'not for us')`.execute(sender.db)
      await sql`select pg_notify('Land "changed"', 'committed')`.execute(sender.db)
      await arrived

      expect(heard).toEqual(['committed'])
    })
  })
})
