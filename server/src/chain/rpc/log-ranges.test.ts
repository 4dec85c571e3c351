import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  ESTATE,
  type Fault,
  FixedTiming,
  LAND,
  makeChain,
  rangeOf,
  type ScriptedBlock,
  type ScriptedCall,
  ScriptedNode,
} from '../../../test/support/chain/scripted-node.ts'
import { runs } from '../../../test/support/run/property-seed.ts'
import { findNodesWithHistory } from './check-history.ts'
import { connectNodes } from './connect.ts'
import { type LogRange, type LogRangesOptions, readLogRanges } from './log-ranges.ts'

const CHAIN = makeChain({ from: 100, count: 120, logsAt: (number) => (number % 3 === 0 ? 2 : 0) })
const ADDRESSES = [LAND, ESTATE]
const LOG_COUNT = CHAIN.reduce((sum, { logs }) => sum + logs.length, 0)

test('logs come range by range, in order; ranges grow', async () => {
  const { read, all } = await start([CHAIN])

  const ranges = await read({ firstBlocks: 4, inFlight: 3, maxBlocks: 30 })

  expectWhole(ranges)
  expect(ranges[0]).toMatchObject({ fromBlock: 100, toBlock: 103, node: 'node1', suspectBlocks: [] })
  expect(ranges[0]?.last).toMatchObject({ number: 103, hash: CHAIN[3]?.header.hash })
  const sizes = ranges.map(({ fromBlock, toBlock }) => toBlock - fromBlock + 1)
  expect(Math.max(...sizes)).toBe(30)
  const methods = all[0]!.takeMethods()
  expect(methods.filter((method) => method === 'eth_getLogs')).toHaveLength(ranges.length)
})

test('whatever a node refuses, and however ranges are cut, the logs are the same', async () => {
  const words = [
    (most: number) => ({ code: -32_600, message: `eth_getLogs is limited to a ${most} range` }),
    () => ({ code: -32_005, message: 'block range too large' }),
    () => ({ code: -32_000, message: 'query exceeds max results' }),
    (most: number, { from }: { from: number }) => ({
      code: -32_005,
      message: `query returned more than 10000 results. Try with this block range [0x${from.toString(16)}, 0x${(from + most - 1).toString(16)}].`,
    }),
  ]
  const { read, all } = await start([CHAIN, CHAIN])
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        most: fc.integer({ min: 4, max: 40 }),
        words: fc.constantFrom(...words),
        firstBlocks: fc.integer({ min: 1, max: 200 }),
        inFlight: fc.integer({ min: 1, max: 5 }),
        failures: fc.infiniteStream(fc.integer({ min: 0, max: 9 }).map((one) => one === 0)),
        failure: fc.constantFrom<Fault>(
          'hang',
          { status: 502 },
          { status: 429 },
          { error: { code: -32_000, message: 'rate limit exceeded' } },
          { result: [{}] },
        ),
      }),
      async ({ most, words: wordsOf, firstBlocks, inFlight, failures, failure }) => {
        const fault = (call: ScriptedCall): Fault | undefined => {
          if (failures.next().value) return failure
          if (call.method !== 'eth_getLogs') return undefined
          const range = rangeOf(call)
          return range.to - range.from + 1 > most ? { error: wordsOf(most, range) } : undefined
        }
        for (const scripted of all) scripted.fault = fault
        expectWhole(await read({ firstBlocks, inFlight }))
      },
    ),
    { numRuns: runs(6) },
  )
})

test('ranges that are far too large for a node come in parts, as soon as they are read', async () => {
  const { nodes, all, timing } = await start([CHAIN])
  all[0]!.fault = (call) =>
    call.method === 'eth_getLogs' && rangeOf(call).to - rangeOf(call).from >= 5
      ? { error: { code: 35, message: 'ranges over 5 blocks are not supported on freetier' } }
      : undefined
  const options = { fromBlock: 100, toBlock: 219, addresses: ADDRESSES, firstBlocks: 60, inFlight: 2, timing }
  const ranges: LogRange[] = []
  for await (const range of readLogRanges(nodes, options)) {
    if (ranges.length === 0) expect(all[0]!.calls.length).toBeLessThan(20)
    ranges.push(range)
  }

  expectWhole(ranges)
  expect(ranges).toHaveLength(120 / 5)
  const asked = all[0]!.calls.filter(({ method }) => method === 'eth_getLogs')
  expect(asked).toHaveLength(120 / 5 + 2)
})

test('a refusal for the rate of calls leaves the range as it is', async () => {
  const { read, all, timing } = await start([CHAIN])
  let refusals = 3
  const asked: number[] = []
  all[0]!.fault = (call) => {
    if (call.method !== 'eth_getLogs') return undefined
    asked.push(rangeOf(call).to - rangeOf(call).from + 1)
    refusals -= 1
    return refusals >= 0 ? { status: 429, headers: { 'retry-after': '4' } } : undefined
  }

  expectWhole(await read({ firstBlocks: 60, maxBlocks: 60, inFlight: 1 }))

  expect(asked).toEqual([60, 60, 60, 60, 60])
  expect(timing.pauses).toEqual([4_000, 4_000, 4_000])
})

test('what one of two nodes on two hosts leaves out is read from the other one, with and without receipts', async () => {
  const { read, all } = await start([CHAIN, CHAIN])
  const omissions = fc.record({
    liar: fc.constantFrom(0, 1),
    hasReceipts: fc.boolean(),
    omits: fc.infiniteStream(fc.integer({ min: 0, max: 3 }).map((one) => one === 0)),
    firstBlocks: fc.integer({ min: 1, max: 200 }),
  })
  await fc.assert(
    fc.asyncProperty(omissions, async ({ liar, hasReceipts, omits, firstBlocks }) => {
      const left = new Map<string, boolean>()
      const isLeftOut = ({ blockNumber, logIndex }: Readonly<Record<string, unknown>>) => {
        const key = `${blockNumber} ${logIndex}`
        if (!left.has(key)) left.set(key, omits.next().value)
        return left.get(key)
      }
      for (const [at, scripted] of all.entries())
        scripted.fault = (call) => {
          if (call.method === 'eth_getBlockReceipts') return hasReceipts ? undefined : { result: null }
          if (call.method !== 'eth_getLogs' || at !== liar) return undefined
          const { from, to } = rangeOf(call)
          const blocks = CHAIN.slice(from - 100, to - 99)
          return { result: blocks.flatMap(({ logs }) => logs.filter((log) => !isLeftOut(log))) }
        }
      expectWhole(await read({ firstBlocks, isCompared: true }))
    }),
    { numRuns: runs(8) },
  )
})

test('two nodes that have different logs of a block, and no receipts, make no history', async () => {
  const { read, all } = await start([CHAIN, CHAIN])
  for (const [at, scripted] of all.entries())
    scripted.fault = ({ method }) =>
      method === 'eth_getLogs'
        ? { result: [CHAIN[2]!.logs[at]] }
        : method === 'eth_getBlockReceipts'
          ? { result: null }
          : undefined
  const reading = read({ toBlock: 102, isCompared: true, maxTries: 2 })
  await expect(reading).rejects.toThrow('another node has other logs of block 102')
})

test('an exactly round number of logs is not believed: a node that cuts answers off is found', async () => {
  const dense = makeChain({ from: 100, count: 8, logsAt: (number) => 20 + number - 100 })
  const { read, all } = await start([dense])
  all[0]!.fault = (call) => {
    if (call.method !== 'eth_getLogs') return undefined
    const { from, to } = rangeOf(call)
    const logs = dense.filter(({ header }) => Number(header.number) >= from && Number(header.number) <= to)
    return { result: logs.flatMap((block) => block.logs).slice(0, 100) }
  }

  let asked = 0
  const beforeEachTry = async () => {
    asked += 1
  }
  const ranges = await read({ toBlock: 107, beforeEachTry })

  expect(ranges.flatMap(({ logs }) => [...logs])).toHaveLength(8 * 20 + 28)
  // A reader with a lease renews it before each of the halves, of which there may be thousands.
  expect(asked).toBe(all[0]!.takeMethods().filter((method) => method === 'eth_getLogs').length)
  expect(asked).toBeGreaterThan(ranges.length)
})

test('a block with exactly 100 logs is proven by its receipts, else named as suspect', async () => {
  const dense = makeChain({ from: 100, count: 2, logsAt: (number) => (number === 100 ? 100 : 0) })
  const { read, all } = await start([dense])
  expect(await read({ toBlock: 100 })).toMatchObject([{ suspectBlocks: [] }])

  all[0]!.fault = ({ method }) =>
    method === 'eth_getBlockReceipts' ? { error: { code: -32_601, message: 'method not found' } } : undefined
  expect(await read({ toBlock: 100 })).toMatchObject([{ suspectBlocks: [100] }])

  const more = makeChain({ from: 100, count: 1, logsAt: () => 101 })
  all[0]!.blocks = more
  all[0]!.fault = ({ method }) =>
    method === 'eth_getLogs' ? { result: more[0]!.logs.slice(0, 100) } : undefined
  await expect(readWith(all, { toBlock: 100 })).rejects.toThrow(/logs of block 100 are missing/)
})

test('a range whose last block changes while it is read is read again', async () => {
  const { read, all } = await start([CHAIN])
  const other = makeChain({ from: 159, count: 1, salt: 'f0' })[0]!
  let looks = 0
  all[0]!.fault = ({ method, params }) => {
    if (method !== 'eth_getBlockByNumber' || params[0] !== '0x9f') return undefined
    looks += 1
    return looks === 1 ? { result: other.header } : undefined
  }

  expectWhole(await read({ firstBlocks: 60, maxBlocks: 60 }))

  expect(looks).toBe(4)
})

test('a refusal of a single block is an error, and so is a node that stays away', async () => {
  const { read, all } = await start([CHAIN])
  all[0]!.fault = (call) =>
    call.method === 'eth_getLogs' && rangeOf(call).from <= 110 && rangeOf(call).to >= 110
      ? { error: { code: -32_005, message: 'query returned more than 10000 results' } }
      : undefined
  await expect(read({ firstBlocks: 16 })).rejects.toMatchObject({ kind: 'too_many_results' })

  all[0]!.fault = () => ({ status: 503 })
  await expect(read({})).rejects.toThrow(/HTTP 503/)
})

test('a reader that cannot wait has few tries, no long pause, and is asked before each try', async () => {
  const { read, all, timing } = await start([CHAIN])
  let asked = 0
  const beforeEachTry = async () => {
    asked += 1
  }
  all[0]!.fault = ({ method }) => (method === 'eth_getLogs' ? { status: 503 } : undefined)
  await expect(read({ maxTries: 2, inFlight: 1, beforeEachTry })).rejects.toThrow(/HTTP 503/)
  // Beside the shorter ones, after which a call is sent again
  expect([asked, timing.pauses.filter((ms) => ms >= 1_000)]).toEqual([2, [1_000]])

  all[0]!.fault = () => ({ status: 429, headers: { 'retry-after': '3600' } })
  timing.pauses.length = 0
  timing.advance(600_000)
  await expect(read({ maxPauseMs: 10_000, inFlight: 1 })).rejects.toThrow(/node1/)
  expect(timing.pauses).toEqual([])

  const lost = new Error('the lease is lost')
  all[0]!.fault = () => undefined
  timing.advance(3_600_000)
  await expect(read({ beforeEachTry: () => Promise.reject(lost) })).rejects.toBe(lost)
})

test('blocks that one node has removed are read from another; without another, the error says so at once', async () => {
  const pruned = (call: ScriptedCall): Fault | undefined =>
    call.method === 'eth_getLogs' && rangeOf(call).from < 150
      ? { error: { code: 4444, message: 'pruned history unavailable' } }
      : undefined
  const two = await start([CHAIN, CHAIN])
  two.all[0]!.fault = pruned
  const ranges = await two.read({ firstBlocks: 10, maxBlocks: 10, inFlight: 1 })
  expectWhole(ranges)
  expect(new Set(ranges.map(({ node }) => node))).toEqual(new Set(['node1', 'node2']))
  const refused = two.all[0]!.calls.filter(
    (call) => call.method === 'eth_getLogs' && rangeOf(call).from < 150,
  )
  expect(refused.length).toBeLessThanOrEqual(5)

  const one = await start([CHAIN])
  one.all[0]!.fault = pruned
  await expect(one.read({})).rejects.toMatchObject({ kind: 'history' })
  expect(one.timing.pauses).toEqual([])
})

test('the reading ends with its signal, and with its reader', async () => {
  const stop = new AbortController()
  const { nodes, timing } = await start([CHAIN])
  const options = { fromBlock: 100, toBlock: 219, addresses: ADDRESSES, firstBlocks: 5, maxBlocks: 5, timing }
  const seen: number[] = []
  const reading = async () => {
    for await (const { toBlock } of readLogRanges(nodes, { ...options, signal: stop.signal })) {
      seen.push(toBlock)
      if (seen.length === 2) stop.abort(new Error('the program ends'))
    }
  }
  await expect(reading()).rejects.toThrow('the program ends')

  for await (const { toBlock } of readLogRanges(nodes, options)) {
    expect(toBlock).toBe(104)
    break
  }
})

const PROBE = { contract: { address: LAND, startBlock: 100 }, toBlock: 219, firstLogsWithin: 200 }

test('where the first logs of a contract may be late, they are looked for up to the last block', async () => {
  const late = makeChain({ from: 100, count: 120, logsAt: (number) => (number >= 190 ? 1 : 0) })
  const { nodes, timing } = await start([late])
  const options = { ...PROBE, timing }

  expect(await findNodesWithHistory(nodes, { ...options, firstLogsWithin: undefined })).toHaveLength(1)
  await expect(findNodesWithHistory(nodes, { ...options, firstLogsWithin: 50 })).rejects.toThrow(
    'answers no logs',
  )
})

test('a node that leaves out the first logs, but has later ones, is not asked for the history', async () => {
  const { nodes, all, timing } = await start([CHAIN, CHAIN, CHAIN])
  const lateLogs = makeChain({ from: 100, count: 120, logsAt: (number) => (number >= 190 ? 1 : 0) })
  all[0]!.blocks = lateLogs
  const options = { ...PROBE, timing, firstLogsWithin: undefined }

  const found = await findNodesWithHistory(nodes, options)

  expect(found.map(({ name }) => name)).toEqual(['node2', 'node3'])
})

const EMPTY: Fault = { result: [] }
test.each<[string, Fault, RegExp]>([
  ['geth and reth', { error: { code: 4444, message: 'pruned history unavailable' } }, /pruned history/],
  [
    'Nethermind',
    { error: { code: -32_000, message: 'Receipt not available for From block 100.' } },
    /old blocks/,
  ],
  ['Erigon', { error: { code: -32_000, message: 'data before txNum=77 is not available' } }, /old blocks/],
  ['a service that answers an empty list', EMPTY, /answers no logs of 0x1a.* for the blocks 100 to 219/],
])('a node without history is recognised: %s', async (_name, fault, reason) => {
  const { nodes, all, timing } = await start([CHAIN, CHAIN])
  const options = { ...PROBE, timing }
  all[0]!.fault = ({ method }) => (method === 'eth_getLogs' ? fault : undefined)
  expect((await findNodesWithHistory(nodes, options)).map(({ name }) => name)).toEqual(['node2'])

  all[1]!.fault = all[0]!.fault
  const error = await findNodesWithHistory(nodes, options).catch((thrown) => thrown)

  expect(error.name).toBe('HistoryMissingError')
  expect(error.message).toMatch(reason)
  expect(error.message).toMatch(
    /node1 .*node2 .*Use an archive node, or a full node .* before block 15537393/,
  )
})

test('a node that says what it has is believed', async () => {
  const { nodes, all, timing } = await start([CHAIN])
  const options = { ...PROBE, timing }
  for (const [logs, reason] of [
    [{ disabled: true }, 'has no logs'],
    [{ disabled: false, oldestBlock: '0xed14f2' }, 'oldest logs are of block 15537394'],
  ] as const) {
    all[0]!.fault = ({ method }) => (method === 'eth_capabilities' ? { result: { logs } } : undefined)
    await expect(findNodesWithHistory(nodes, options)).rejects.toThrow(reason)
  }
  all[0]!.fault = ({ method }) =>
    method === 'eth_capabilities' ? { result: { logs: { disabled: false, oldestBlock: '0x0' } } } : undefined
  expect(await findNodesWithHistory(nodes, options)).toHaveLength(1)
})

test('a node that does not answer is no node without history', async () => {
  const { nodes, all, timing } = await start([CHAIN])
  all[0]!.fault = ({ method }) => (method === 'eth_getLogs' ? { status: 502 } : undefined)
  const options = { ...PROBE, timing }
  await expect(findNodesWithHistory(nodes, options)).rejects.toThrow(/HTTP 502/)
})

/** All logs, each once and in order, and ranges without a gap. */
function expectWhole(ranges: readonly LogRange[]): void {
  expect(ranges.flatMap(({ logs }) => [...logs])).toHaveLength(LOG_COUNT)
  let next = 100
  for (const { fromBlock, toBlock, logs } of ranges) {
    expect(fromBlock).toBe(next)
    next = toBlock + 1
    for (const { blockNumber } of logs) expect(blockNumber >= fromBlock && blockNumber <= toBlock).toBe(true)
  }
  expect(next).toBe(220)
}

async function start(chains: readonly (readonly ScriptedBlock[])[]) {
  const all = await Promise.all(chains.map((chain) => ScriptedNode.start(chain)))
  const { nodes, timing } = connect(all)
  const read = (options: Partial<LogRangesOptions>) => readAll(nodes, timing, options)
  return { all, nodes, timing, read }
}

function readWith(all: readonly ScriptedNode[], options: Partial<LogRangesOptions>) {
  const { nodes, timing } = connect(all)
  return readAll(nodes, timing, options)
}

function connect(all: readonly ScriptedNode[]) {
  const timing = new FixedTiming()
  for (const scripted of all) scripted.onHang = timing.noteHang
  const nodes = connectNodes({
    urls: all.map(({ url }, at) => (at % 2 === 0 ? url : url.replace('127.0.0.1', 'localhost'))),
    network: { chainId: 1, contracts: { LANDRegistry: { address: LAND, startBlock: 100 } } },
    timing,
    random: () => 0,
  })
  return { nodes, timing }
}

async function readAll(
  nodes: ReturnType<typeof connect>['nodes'],
  timing: FixedTiming,
  options: Partial<LogRangesOptions>,
): Promise<readonly LogRange[]> {
  const ranges: LogRange[] = []
  const whole = { fromBlock: 100, toBlock: 219, addresses: ADDRESSES, timing, ...options }
  for await (const range of readLogRanges(nodes, whole)) ranges.push(range)
  return ranges
}
