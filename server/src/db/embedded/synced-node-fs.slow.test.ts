import fs from 'node:fs'
import path from 'node:path'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import { expect, test, vi } from 'vitest'
import { freshDataDir } from '../../../test/support/database/engines.ts'
import { openPGlite } from './pglite.ts'
import { SyncedNodeFS } from './synced-node-fs.ts'

test('every commit is flushed to the disk, and a read flushes nothing', async () => {
  const pglite = await openPGlite(path.join(await freshDataDir(), 'database'), true)
  const disk = pglite.fs as SyncedNodeFS
  const fsync = vi.spyOn(fs, 'fsyncSync')
  await pglite.exec('create table t (n integer)')

  const before = disk.syncCount
  fsync.mockClear()
  for (let n = 0; n < 10; n++) await pglite.query('insert into t values ($1)', [n])
  expect(disk.syncCount - before).toBe(10)
  expect(fsync).toHaveBeenCalledTimes(10)

  fsync.mockClear()
  await pglite.query('select * from t')
  expect(fsync).not.toHaveBeenCalled()
  fsync.mockRestore()
  await pglite.close()
})

test('a checkpoint flushes the tables and their directories too', async () => {
  const pglite = await openPGlite(path.join(await freshDataDir(), 'database'), true)
  await pglite.exec('create table t as select generate_series(1, 1000) as n')
  const disk = pglite.fs as SyncedNodeFS

  const before = disk.syncCount
  await pglite.exec('checkpoint')

  expect(disk.syncCount - before).toBeGreaterThan(3)
  await pglite.close()
})

test('one setting turns it off', async () => {
  const pglite = await openPGlite(path.join(await freshDataDir(), 'database'), false)

  expect(pglite.fs).toBeInstanceOf(NodeFS)
  expect(pglite.fs).not.toBeInstanceOf(SyncedNodeFS)
  expect((await pglite.query('show fsync')).rows).toEqual([{ fsync: 'off' }])
  await pglite.close()
})
