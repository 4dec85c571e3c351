import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { freshEngine } from '../../../test/support/database/engines.ts'

const open = freshEngine('postgres')

test('a statement with the comment stays prepared, under a name made of its text; others do not', async () => {
  const { db } = await open({ poolSize: 1 })
  const twice = (n: number) =>
    sql<{ twice: number }>`/* prepared */ select ${n}::integer * 2 as twice`.execute(db)

  const answers = [await twice(4), await twice(5)].map(({ rows }) => rows[0]?.twice)
  await sql`select ${1}::integer`.execute(db)
  const prepared = await sql<{
    name: string
    statement: string
  }>`select name, statement from pg_prepared_statements`.execute(db)

  expect(answers).toEqual([8, 10])
  expect(prepared.rows).toEqual([
    {
      name: expect.stringMatching(/^landpass_[0-9a-f]{24}$/),
      statement: '/* prepared */ select $1::integer * 2 as twice',
    },
  ])
})

test('an error of a prepared statement is the same as of any other, and the connection stays usable', async () => {
  const { db } = await open({ poolSize: 1 })
  const divide = (by: number) => sql<{ n: number }>`/* prepared */ select 8 / ${by}::integer as n`.execute(db)

  await expect(divide(0)).rejects.toMatchObject({ name: 'StatementError', code: '22012' })
  expect((await divide(2)).rows).toEqual([{ n: 4 }])
})
