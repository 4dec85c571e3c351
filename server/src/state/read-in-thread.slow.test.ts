import { expect, onTestFinished, test } from 'vitest'
import { freshDatabaseUrl, freshEngine, TEST_SETTINGS } from '../../test/support/database/engines.ts'
import { startLossyProxy } from '../../test/support/database/lossy-proxy.ts'
import { readInBundledThread } from '../../test/support/http/land-server.ts'
import { TINY_WORLD } from '../../test/support/land/tiny-world.ts'
import { openEngine } from '../db/open-engine.ts'
import { AppError } from '../errors.ts'

const LAND = { world: TINY_WORLD }
const open = freshEngine('postgres')

test('a database without a world has no land', async () => {
  expect(await readInBundledThread(await open(), LAND, new AbortController().signal)).toBeUndefined()
})

test('a reading that is ended fails, before it begins and while it runs', async () => {
  const engine = await open()
  const closing = new AbortController()
  const reading = readInBundledThread(engine, LAND, closing.signal)
  closing.abort()
  await expect(reading).rejects.toBe(closing.signal.reason)
  await expect(readInBundledThread(engine, LAND, closing.signal)).rejects.toBe(closing.signal.reason)
})

test('a database that is away is named as one', async () => {
  const proxy = await startLossyProxy(await freshDatabaseUrl())
  onTestFinished(() => proxy.stop())
  const engine = await openEngine({ ...TEST_SETTINGS, databaseUrl: proxy.url })
  onTestFinished(() => engine.close())
  proxy.refuse()
  const error = await readInBundledThread(engine, LAND, new AbortController().signal).catch((e) => e)
  expect(error).toBeInstanceOf(AppError)
  expect(error.code).toBe('database_unavailable')
})
