import { appendFile, mkdtemp, readdir, rm, stat, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type LogsOfRange, Spool, type TimedLog } from './spool.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spool-'))
})
afterEach(() => rm(folder, { recursive: true }))

const FIRST = 1_000
const openSpool = () => Spool.open(folder, { name: '1-abc', firstBlock: FIRST })
const file = async () => join(folder, (await readdir(folder))[0]!)

function rangeOf(first: number, count = 10): LogsOfRange {
  const log: TimedLog = {
    address: '0xf87e31492faf9a91b02ee0deaad50d51d56d5d4d',
    topics: ['0x01', '0x02'],
    data: '0x',
    blockNumber: first,
    blockHash: '0x0b',
    blockTimeS: 1_516_000_000,
    txHash: '0x0c',
    txIndex: 3,
    logIndex: 5,
  }
  return { first, last: first + count - 1, logs: [log] }
}

async function readAll(spool: Spool): Promise<LogsOfRange[]> {
  const ranges: LogsOfRange[] = []
  for await (const range of spool.ranges()) ranges.push(range)
  return ranges
}

test('what was appended is there after a restart, in order', async () => {
  const spool = await openSpool()
  expect(spool.nextBlock).toBe(FIRST)
  await spool.append(rangeOf(FIRST))
  await spool.append(rangeOf(FIRST + 10, 500))
  await spool.sync()
  await spool.close()

  const again = await openSpool()
  expect(again.nextBlock).toBe(FIRST + 510)
  expect(again.logs).toBe(2)
  expect(await readAll(again)).toEqual([rangeOf(FIRST), rangeOf(FIRST + 10, 500)])
  await expect(again.append(rangeOf(FIRST))).rejects.toThrow('does not follow')
  await again.close()
})

test('a file that was cut anywhere, or has garbage at its end, loses only what is not whole', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.boolean(), async (cut, hasGarbage) => {
      await rm(folder, { recursive: true })
      const spool = await openSpool()
      const ends = [0]
      for (let i = 0; i < 4; i++) {
        await spool.append(rangeOf(FIRST + 10 * i))
        ends.push((await stat(await file())).size)
      }
      await spool.close()
      const size = cut % (ends.at(-1)! + 1)
      await truncate(await file(), size)
      if (hasGarbage) await appendFile(await file(), Buffer.from([0, 0, 0, 3, 1, 2, 3, 4, 9, 9, 9, 9, 9]))

      const again = await openSpool()
      const whole = ends.filter((end) => end <= size).length - 1
      expect(again.nextBlock).toBe(FIRST + 10 * whole)
      for (let i = whole; i < 4; i++) await again.append(rangeOf(FIRST + 10 * i))
      expect(await readAll(again)).toEqual([0, 1, 2, 3].map((i) => rangeOf(FIRST + 10 * i)))
      await again.close()
    }),
    { numRuns: 25 },
  )
})

test('two processes that append the same ranges do no harm', async () => {
  const [one, two] = [await openSpool(), await openSpool()]
  await one.append(rangeOf(FIRST))
  await two.append(rangeOf(FIRST))
  await two.append(rangeOf(FIRST + 10))
  await one.append(rangeOf(FIRST + 10))
  await Promise.all([one.close(), two.close()])

  const again = await openSpool()
  expect(await readAll(again)).toEqual([rangeOf(FIRST), rangeOf(FIRST + 10)])
  await again.close()
})
