import {
  appendFile,
  type FileHandle,
  mkdir,
  mkdtemp,
  open,
  rm,
  rmdir,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32, deflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { PackedLogs, type TimedLog } from '../packed-logs.ts'
import { Spool } from './spool.ts'
import { frameOf as frameFor, type LogsOfRange, type PackedRange, storedRangeOf } from './spool-frames.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'spool-'))
})
afterEach(() => rm(folder, { recursive: true }))

const FIRST = 1_000
const openSpool = () => Spool.open(folder, { name: '1-abc', firstBlock: FIRST })
const file = () => join(folder, '1-abc.spool')

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
  const last = first + count - 1
  return { first, last, lastHash: `0x${last}`, logs: [log] }
}

function packed({ logs, ...range }: LogsOfRange): PackedRange {
  return { ...range, logs: PackedLogs.from(logs) }
}

async function readAll(spool: Spool): Promise<LogsOfRange[]> {
  const ranges: LogsOfRange[] = []
  for await (const range of spool.ranges()) ranges.push(range)
  return ranges
}

test('what was appended is there after a restart, in order', async () => {
  const spool = await openSpool()
  expect(spool.nextBlock).toBe(FIRST)
  await spool.append(packed(rangeOf(FIRST)))
  await spool.append(packed(rangeOf(FIRST + 10, 500)))
  await spool.sync()
  await spool.close()

  const again = await openSpool()
  expect(again.nextBlock).toBe(FIRST + 510)
  expect(again.logs).toBe(2)
  expect(await readAll(again)).toEqual([rangeOf(FIRST), rangeOf(FIRST + 10, 500)])
  await expect(again.append(packed(rangeOf(FIRST)))).rejects.toThrow('does not follow')
  await again.close()
})

test('logs of one transaction, one block and several blocks are read as they were', async () => {
  const [log] = rangeOf(FIRST).logs as readonly [TimedLog]
  const logs = [
    log,
    { ...log, logIndex: 6, data: '0x01' },
    { ...log, logIndex: 7, txHash: '0x0d', txIndex: 4, topics: [] },
    {
      ...log,
      logIndex: 0,
      txHash: '0x0e',
      txIndex: 0,
      blockNumber: FIRST + 1,
      blockHash: '0x0f',
      blockTimeS: 0,
    },
    {
      ...log,
      logIndex: 1,
      txHash: '0x0e',
      txIndex: 0,
      blockNumber: FIRST + 1,
      blockHash: '0x0f',
      blockTimeS: 0,
    },
  ]
  const spool = await openSpool()
  await spool.append(packed({ ...rangeOf(FIRST), logs }))
  await spool.append(packed({ ...rangeOf(FIRST + 10), logs: [] }))
  // Ranges are read in parts of 16 kB: these logs take 200 kB, and some parts begin within a transaction.
  const many = Array.from({ length: 1_000 }, (_, at) => ({
    ...log,
    data: `0x${'ab'.repeat(at % 200)}`,
    blockNumber: FIRST + 20 + Math.floor(at / 300),
    blockHash: `0x1${Math.floor(at / 300)}`,
    txHash: `0x2${Math.floor(at / 100)}`,
    txIndex: Math.floor(at / 100) % 3,
    logIndex: at,
  }))
  await spool.append(packed({ ...rangeOf(FIRST + 20), logs: many }))
  expect((await readAll(spool)).map((range) => range.logs)).toEqual([logs, [], many])
  await spool.close()
})

/** What a crash can leave after the last whole range. */
const TAILS = [
  Buffer.alloc(0),
  Buffer.from([0, 0, 0, 3, 1, 2, 3, 4, 9, 9, 9, 9, 9]),
  Buffer.alloc(7),
  Buffer.alloc(4_096),
  frameOf('no JSON', Buffer.from('logs')),
  frameOf('[1]', Buffer.from('logs')),
  frameOf(factsOf(FIRST + 40, 1), Buffer.from('no compressed data')),
  frameOf(factsOf(FIRST + 40, 1), deflateRawSync('no JSON')),
  // Compressed bytes that end too early, and fewer logs than the frame says
  frameOf(factsOf(FIRST + 40, 1), deflateRawSync('[]'.padEnd(1_000)).subarray(0, -3)),
  frameOf(factsOf(FIRST + 40, 1), deflateRawSync('[]')),
  // A range that would be the next one, with a wrong checksum; one with blocks missing before it
  frameOf(factsOf(FIRST + 40), deflateRawSync('[]'), 1),
  frameOf(factsOf(FIRST + 70), deflateRawSync('[]')),
  Buffer.from([0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4, 9, 9, 9, 9, 9]),
]

function factsOf(first: number, logs = 0): string {
  return `[${first},${first + 9},"0x",${logs}]`
}

/** With the right checksum, unless it is damaged. */
function frameOf(facts: string, logs: Buffer, damage = 0): Buffer {
  const body = Buffer.concat([Buffer.from(facts), logs])
  const header = Buffer.alloc(12)
  header.writeUInt32BE(facts.length, 0)
  header.writeUInt32BE(logs.length, 4)
  header.writeUInt32BE((crc32(body) ^ damage) >>> 0, 8)
  return Buffer.concat([header, body])
}

test('a file that was cut anywhere, or has zeros or garbage at its end, loses only what is not whole', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.constantFrom(...TAILS), async (cut, tail) => {
      await rm(folder, { recursive: true })
      const spool = await openSpool()
      const ends = [(await stat(file())).size]
      for (let i = 0; i < 4; i++) {
        await spool.append(packed(rangeOf(FIRST + 10 * i)))
        ends.push((await stat(file())).size)
      }
      await spool.close()
      const size = cut % 2 === 0 ? ends.at(-1)! : cut % (ends.at(-1)! + 1)
      await truncate(file(), size)
      await appendFile(file(), tail)

      const again = await openSpool()
      const whole = Math.max(ends.filter((end) => end <= size).length - 1, 0)
      expect(again.nextBlock).toBe(FIRST + 10 * whole)
      for (let i = whole; i < 4; i++) await again.append(packed(rangeOf(FIRST + 10 * i)))
      expect(await readAll(again)).toEqual([0, 1, 2, 3].map((i) => rangeOf(FIRST + 10 * i)))
      await again.close()
    }),
    { numRuns: 25, examples: TAILS.map((tail): [number, Buffer] => [0, tail]) },
  )
})

test('a second process is refused as long as the first one has the file', async () => {
  const first = await openSpool()
  await first.append(packed(rangeOf(FIRST)))
  await expect(openSpool()).rejects.toThrow(`The process ${process.pid} is reading the history`)
  await first.close()

  const second = await openSpool()
  expect(second.nextBlock).toBe(FIRST + 10)
  await second.close()
})

test('a process that could not open the file leaves the folder to the next one', async () => {
  await mkdir(file())
  await expect(openSpool()).rejects.toThrow('EISDIR')
  await rmdir(file())

  await (await openSpool()).close()
})

test('a file that is no spool is replaced', async () => {
  await writeFile(file(), Buffer.from([0, 0, 0, 3, 1, 2, 3, 4, 9, 9, 9, 9, 9]))
  const spool = await openSpool()
  expect(spool.nextBlock).toBe(FIRST)
  await spool.append(packed(rangeOf(FIRST)))
  await spool.close()

  const again = await openSpool()
  expect(await readAll(again)).toEqual([rangeOf(FIRST)])
  await again.close()
})

test('the newest ranges can be deleted, and others take their place', async () => {
  const spool = await openSpool()
  for (let i = 0; i < 3; i++) await spool.append(packed(rangeOf(FIRST + 10 * i)))
  expect(spool.newestBlocks(2)).toEqual([
    { number: FIRST + 19, hash: `0x${FIRST + 19}` },
    { number: FIRST + 29, hash: `0x${FIRST + 29}` },
  ])
  expect(spool.blocksFrom(FIRST + 15).map(({ number }) => number)).toEqual([FIRST + 19, FIRST + 29])
  await spool.dropFrom(FIRST + 15)
  expect([spool.nextBlock, spool.logs]).toEqual([FIRST + 10, 1])
  await spool.append(packed(rangeOf(FIRST + 10, 5)))
  expect(await readAll(spool)).toEqual([rangeOf(FIRST), rangeOf(FIRST + 10, 5)])
  await spool.close()
})

test('of a range that a full disk takes only in part, nothing stays', async () => {
  const spool = await openSpool()
  await spool.append(packed(rangeOf(FIRST)))
  const other = await open(file())
  const handles = Object.getPrototypeOf(other) as FileHandle
  await other.close()
  const write = handles.write
  const half = vi.spyOn(handles, 'write').mockImplementationOnce(function (
    this: FileHandle,
    ...args: unknown[]
  ) {
    const [buffer] = args as [Buffer]
    return write.apply(this, [buffer.subarray(0, 20)] as unknown as Parameters<FileHandle['write']>)
  } as FileHandle['write'])
  await expect(spool.append(packed(rangeOf(FIRST + 10)))).rejects.toThrow('only 20 of')
  half.mockRestore()

  await spool.append(packed(rangeOf(FIRST + 10)))
  expect(await readAll(spool)).toEqual([rangeOf(FIRST), rangeOf(FIRST + 10)])
  await spool.close()
})

test('a range in the middle that cannot be read, and all after it, are requested again', async () => {
  await (await openSpool()).close()
  const whole = (first: number) => frameOf(factsOf(first), deflateRawSync('[]'))
  await appendFile(file(), whole(FIRST))
  await appendFile(file(), frameOf(factsOf(FIRST + 10, 1), deflateRawSync('no JSON')))
  await appendFile(file(), whole(FIRST + 20))
  const spool = await openSpool()
  expect(spool.nextBlock).toBe(FIRST + 30)
  expect((await readAll(spool)).map(({ first }) => first)).toEqual([FIRST])
  expect(spool.nextBlock).toBe(FIRST + 10)
  await spool.close()
})

test('a range whose logs have no times is refused, and one of which only a part is read leaves nothing open', async () => {
  const spool = await openSpool()
  const [log] = rangeOf(FIRST).logs as readonly [TimedLog]
  const untimed = PackedLogs.from([{ ...log, blockTimeS: undefined }])
  await expect(spool.append({ ...rangeOf(FIRST), logs: untimed })).rejects.toThrow('has no time')
  await spool.close()

  const many = Array.from({ length: 2_000 }, (_, logIndex) => ({
    ...log,
    logIndex,
    data: `0x${'ab'.repeat(300)}`,
  }))
  const { facts, bytes } = await frameFor(packed({ ...rangeOf(FIRST), logs: many }))
  const { parts } = storedRangeOf({ facts, logs: bytes.subarray(-bytes.readUInt32BE(4)) })
  let read = 0
  for await (const part of parts) {
    read = part.length
    break
  }
  expect(read).toBeGreaterThan(0)
  expect(process.getActiveResourcesInfo().filter((name) => name.includes('ZLIB'))).toEqual([])
})

test('the newest log is found behind ranges without logs', async () => {
  const spool = await openSpool()
  expect(await spool.newestLog()).toBeUndefined()
  await spool.append(packed(rangeOf(FIRST)))
  await spool.append(packed(rangeOf(FIRST + 10)))
  await spool.append(packed({ ...rangeOf(FIRST + 20), logs: [] }))
  expect(await spool.newestLog()).toEqual(rangeOf(FIRST + 10).logs[0])
  await spool.close()
})

test('logs that are missing are stored in their places, once it is noted of which blocks they were missing', async () => {
  const spool = await openSpool()
  await spool.append(packed(rangeOf(FIRST)))
  await spool.append(packed({ ...rangeOf(FIRST + 10), logs: [] }))
  const [stored] = rangeOf(FIRST).logs as readonly [TimedLog]
  const [missing] = rangeOf(FIRST + 10).logs as readonly [TimedLog]
  const before = await readAll(spool)
  const later = { ...stored, logIndex: stored.logIndex + 1 }
  const all = async function* () {
    yield* [stored, later, missing]
  }
  const noteNothing = async () => Promise.reject(new Error('the process was killed'))
  await expect(spool.addMissing(all(), noteNothing)).rejects.toThrow('was killed')
  expect(await readAll(spool)).toEqual(before)

  const noted: (readonly number[])[] = []
  const note = async (blocks: readonly number[]) => void noted.push(blocks)
  const blocks = [stored.blockNumber, missing.blockNumber]
  expect(await spool.addMissing(all(), note)).toEqual(blocks)
  expect((await readAll(spool)).map(({ logs }) => logs)).toEqual([[stored, later], [missing]])
  expect([spool.logs, noted]).toEqual([3, [blocks]])
  expect(await spool.addMissing(all(), note)).toEqual([])
  expect(noted).toHaveLength(1)
  const ofOtherBranch = async function* () {
    yield { ...later, logIndex: later.logIndex + 1, blockHash: '0x0f' }
  }
  await expect(spool.addMissing(ofOtherBranch(), note)).rejects.toThrow('was replaced')
  await spool.close()
})
