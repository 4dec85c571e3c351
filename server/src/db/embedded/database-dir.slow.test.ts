import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { emptyDir, freshDataDir } from '../../../test/support/database/engines.ts'
import { killHard, startChild } from '../../../test/support/processes/children.ts'
import { CommandError } from '../../errors.ts'
import { openDatabaseDir } from './database-dir.ts'

test('a creation that was killed leaves nothing that does not open', async () => {
  const parent = emptyDir()
  const dir = path.join(parent, 'database')
  const child = startChild('create-child', dir)
  await fileAppears(path.join(parent, 'database.unfinished'), 'PG_VERSION')

  await killHard(child)

  expect(fs.readdirSync(parent)).toEqual(['database.unfinished'])
  const pglite = await openDatabaseDir(dir, true)
  expect(fs.readdirSync(parent)).toEqual(['database'])
  expect((await pglite.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  await pglite.close()
})

test('what an unfinished creation left is removed, the database beside it is kept', async () => {
  const parent = await freshDataDir()
  fs.mkdirSync(path.join(parent, 'database.unfinished', 'base'), { recursive: true })

  const pglite = await openDatabaseDir(path.join(parent, 'database'), false)

  expect(fs.readdirSync(parent)).toEqual(['database'])
  expect((await pglite.query('select only_row from land_state')).rows).toHaveLength(1)
  await pglite.close()
})

test('a folder of another version, or of something else, is refused with a sentence', async () => {
  const dir = emptyDir()
  await expect(openDatabaseDir(dir, false)).rejects.toThrow('is not a database folder')

  fs.writeFileSync(path.join(dir, 'PG_VERSION'), '17\n')
  const refused = await openDatabaseDir(dir, false).catch((error) => error)

  expect(refused).toBeInstanceOf(CommandError)
  expect(refused.message).toContain('was written by PostgreSQL 17')
})

/** Polls often, because the file is there for less than a second before the creation goes on. */
async function fileAppears(dir: string, name: string): Promise<void> {
  const file = path.join(dir, name)
  while (!fs.existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 2))
}
