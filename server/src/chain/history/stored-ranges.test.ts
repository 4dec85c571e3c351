import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PackedLogs } from '../packed-logs.ts'
import { Spool, spoolPath } from './spool.ts'
import { StoredRanges } from './stored-ranges.ts'

let folder: string
let spool: Spool
let stored: StoredRanges
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ranges-'))
  spool = await Spool.open(folder, { name: 'a', firstBlock: 100 })
  stored = await StoredRanges.open(spoolPath(folder, 'a'), 100)
})
afterEach(async () => {
  await stored.close()
  await spool.close()
  await rm(folder, { recursive: true })
})

const append = (first: number) =>
  spool.append({ first, last: first + 9, lastHash: `0x${first}`, logs: PackedLogs.from([]) })

/** Reads all ranges, and notes their first blocks. */
function readAll() {
  const firsts: number[] = []
  const reading = (async () => {
    for await (const { first } of stored.ranges()) firsts.push(first)
  })()
  return { firsts, reading }
}

/** The event loop has done all that can be done, file operations included. */
async function rest() {
  for (let turn = 0; turn < 50; turn++) await setImmediate()
}

test('ranges are read while others are stored, and none before it is released', async () => {
  const { firsts, reading } = readAll()
  await append(100)
  await append(110)
  await rest()
  expect(firsts).toEqual([])
  stored.release(109)
  while (firsts.length === 0) await setImmediate()
  await rest()
  expect(firsts).toEqual([100])

  await append(120)
  stored.release(129)
  while (firsts.length < 3) await setImmediate()
  await append(130)
  stored.end()
  await reading
  expect(firsts).toEqual([100, 110, 120, 130])
})

test('a range that is replaced before its release is read as it is then', async () => {
  const { firsts, reading } = readAll()
  await append(100)
  await append(110)
  await rest()
  await spool.dropFrom(119)
  await spool.append({ first: 110, last: 114, lastHash: '0x0b', logs: PackedLogs.from([]) })
  await append(115)
  stored.release(124)
  stored.end()
  await reading
  expect(firsts).toEqual([100, 110, 115])
})

test('a failure ends the reading, also while it waits', async () => {
  const { reading } = readAll()
  await rest()
  stored.fail(new Error('no node answers'))
  await expect(reading).rejects.toThrow('no node answers')
})

test('a failure after the reading has ended is not thrown anywhere', async () => {
  await append(100)
  stored.release(109)
  for await (const { first } of stored.ranges()) {
    expect(first).toBe(100)
    break // The next range is awaited already.
  }
  stored.fail(new Error('a log is missing'))
  await rest()
})

test('ranges that are deleted after their release are waited for, until the reason is known', async () => {
  await append(100)
  await append(110)
  stored.release(119)
  await spool.clear()
  const { firsts, reading } = readAll()
  let hasEnded = false
  const ending = reading.catch(() => undefined).then(() => (hasEnded = true))
  await rest()
  expect([firsts, hasEnded]).toEqual([[], false])

  stored.fail(new Error('the node does not have the old blocks'))
  await expect(reading).rejects.toThrow('does not have the old blocks')
  await ending
})
