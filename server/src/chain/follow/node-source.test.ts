import { expect, test } from 'vitest'
import {
  type Fault,
  FixedTiming,
  LAND,
  makeChain,
  type ScriptedBlock,
  ScriptedNode,
} from '../../../test/support/chain/scripted-node.ts'
import type { ChainHead } from '../../config/config.ts'
import { confirmedLogsOf } from '../rpc/confirm-logs.ts'
import { connectNodes } from '../rpc/connect.ts'
import { ASK_FINAL_EVERY_BLOCKS, NodeSource } from './node-source.ts'

const CHAIN = makeChain({ from: 100, count: 20 })
/** The time of its newest block. */
const NOW_MS = (1_600_000_000 + 12 * 119) * 1_000
/** Leaves the chain after block 104. */
const FORK = [
  ...CHAIN.slice(0, 5),
  ...makeChain({ from: 105, count: 16, salt: 'f0', parentHash: CHAIN[4]!.header.hash! }),
]

test('a node whose branch lacks a final block that another node has is avoided, and the other one is followed', async () => {
  const { source, all, nodes } = await connect([FORK, CHAIN])
  for (const scripted of all) scripted.finalized = 104
  await source.heads()
  const base = { number: 110, hash: CHAIN[10]!.header.hash! }

  expect(await source.hasBlock(base)).toBe(true)
  source.refuteHead('a branch without block 110 was announced')
  expect(nodes.status().map(({ state }) => state)).toEqual(['avoided', 'usable'])
  expect((await source.heads()).head).toMatchObject({ number: 119, hash: CHAIN[19]!.header.hash })
})

test('a final block that no node has is not there, and no node is avoided for that', async () => {
  const { source, all, nodes } = await connect([FORK, FORK])
  for (const scripted of all) scripted.finalized = 104
  await source.heads()

  expect(await source.hasBlock({ number: 110, hash: CHAIN[10]!.header.hash! })).toBe(false)
  expect(await source.hasBlock({ number: 110, hash: FORK[10]!.header.hash! })).toBe(true)
  all[1]!.fault = () => ({ error: { code: -32_000, message: 'header not found' } })
  expect(await source.hasBlock({ number: 110, hash: FORK[10]!.header.hash! })).toBe(true)
  expect(nodes.status().map(({ state }) => state)).toEqual(['usable', 'usable'])
})

test.each<[ChainHead, number]>([
  ['latest', 119],
  ['safe', 112],
  ['finalized', 110],
])('the newest block of the node is known, also where %s is followed', async (head, number) => {
  const { source, all } = await connect([CHAIN], head)
  all[0]!.finalized = 110
  all[0]!.fault = ({ params }) => (params[0] === 'safe' ? { result: CHAIN[12]!.header } : undefined)

  const heads = await source.heads()
  expect([heads.latest.number, heads.head.number, heads.finalized.number]).toEqual([119, number, 110])
})

test('a newest block that cannot be checked is not of a time that has not come yet', async () => {
  const { source, all } = await connect([CHAIN, CHAIN])
  for (const scripted of all) scripted.finalized = 110
  all[0]!.fault = ({ params }) =>
    params[0] === 'latest'
      ? { result: { ...CHAIN[19]!.header, logsBloom: null, timestamp: '0x6fffffff' } }
      : undefined

  await expect(source.heads()).rejects.toThrow('has not come yet')
  expect((await source.heads()).head.timeS).toBe(NOW_MS / 1_000)
})

test('while no node says what is final, the head goes on with the last final block', async () => {
  const { source, all } = await connect([CHAIN])
  await expect(source.heads()).rejects.toThrow('no node says which block is final')
  const refuseFinal = ({ params }: { readonly params: readonly unknown[] }) =>
    params[0] === 'finalized' ? { error: { code: -32_602, message: 'unknown tag' } } : undefined
  all[0]!.fault = refuseFinal
  await expect(source.heads()).rejects.toThrow('unknown tag')

  all[0]!.fault = () => undefined
  all[0]!.finalized = 110
  await source.heads()
  all[0]!.fault = refuseFinal
  all[0]!.blocks = makeChain({ from: 100, count: CHAIN.length + ASK_FINAL_EVERY_BLOCKS })
  const heads = await source.heads()
  expect([heads.head.number, heads.finalized.number]).toEqual([119 + ASK_FINAL_EVERY_BLOCKS, 110])
  expect(source.lastHeads).toBe(heads)
})

test('blocks that enough others follow are shown, and final ones without', async () => {
  for (const [confirmations, number] of [
    [1, 118],
    [8, 111],
    [12, 110],
  ] as const) {
    const { source, all } = await connect([CHAIN], 'latest', { confirmations })
    all[0]!.finalized = 110
    const { latest, head } = await source.heads()
    expect([latest.number, head.number, head.hash]).toEqual([119, number, CHAIN[number - 100]!.header.hash])
  }
})

test.each<[string, number | undefined, Fault | undefined]>([
  ['does not know one', undefined, undefined],
  ['refuses the tag', undefined, { error: { code: -32_602, message: 'unknown tag' } }],
  ['stands still', 101, undefined],
  ['answers the first block of all', undefined, { result: makeChain({ count: 1 })[0]!.header }],
])(
  'with CHAIN_FINALITY, a block that is deep enough is final where a node %s',
  async (_, finalized, fault) => {
    const { source, all } = await connect([CHAIN, CHAIN], 'finalized', { finality: 12 })
    for (const scripted of all) {
      scripted.finalized = finalized
      scripted.fault = ({ params }) => (params[0] === 'finalized' ? fault : undefined)
    }
    expect((await source.heads()).head).toMatchObject({ number: 107, hash: CHAIN[7]!.header.hash })
    for (const scripted of all) {
      scripted.finalized = 110
      scripted.fault = () => undefined
      scripted.blocks = makeChain({ from: 100, count: 21 })
    }
    expect((await source.heads()).head.number).toBe(110)
  },
)

test('a node whose final block stands still while that of another moves does not hold it up', async () => {
  const { source, all } = await connect([CHAIN, CHAIN], 'finalized')
  const finals: number[] = []
  for (let more = 0; more < 4; more++) {
    for (const scripted of all) scripted.blocks = makeChain({ from: 100, count: 20 + more })
    all[0]!.finalized = 103
    all[1]!.finalized = 106 + more
    finals.push((await source.heads()).finalized.number)
  }
  expect(finals).toEqual([103, 103, 108, 109])
  all[0]!.finalized = 108
  for (const scripted of all) scripted.blocks = makeChain({ from: 100, count: 25 })
  expect((await source.heads()).finalized.number).toBe(108)
})

test('where no block becomes final for long, the reason is known', async () => {
  const { source, all } = await connect([CHAIN])
  all[0]!.finalized = 110
  await source.heads()
  expect(source.finalityProblem).toBeUndefined()
  all[0]!.blocks = makeChain({ from: 100, count: 200 })
  await source.heads()
  expect(source.finalityProblem).toContain('no block after 110 has become final')
})

test('nodes are asked for the last final block with each eighth block, and with each where that one is followed', async () => {
  for (const [head, finals] of [
    ['latest', [110, 110, 118, 118, 117]],
    ['finalized', [110, 117, 118, 119, 117]],
    ['safe', [110, 117, 118, 119, 117]], // The node does not know a safe block: the final one is followed.
  ] as const) {
    const { source, all } = await connect([CHAIN], head)
    all[0]!.fault = ({ params }) => (params[0] === 'safe' ? { result: null } : undefined)
    const seen: number[] = []
    for (const [count, finalized] of [
      [20, 110],
      [27, 117],
      [28, 118],
      [29, 119],
      [25, 117], // The head goes back.
    ] as const) {
      all[0]!.blocks = makeChain({ from: 100, count })
      all[0]!.finalized = finalized
      seen.push((await source.heads()).finalized.number)
    }
    expect(seen).toEqual(finals)
  }
})

async function connect(
  chains: readonly (readonly ScriptedBlock[])[],
  head: ChainHead = 'latest',
  { confirmations = 0, finality }: { readonly confirmations?: number; readonly finality?: number } = {},
) {
  const all = await Promise.all(chains.map((chain) => ScriptedNode.start(chain)))
  const timing = new FixedTiming()
  const nodes = connectNodes({
    urls: all.map(({ url }, at) => (at % 2 === 0 ? url : url.replace('127.0.0.1', 'localhost'))),
    network: { chainId: 1, contracts: { LANDRegistry: { address: LAND, startBlock: 100 } } },
    timing,
    random: () => 0,
    finality,
  })
  const readRange = () => expect.fail('no range is read')
  return {
    nodes,
    all,
    timing,
    source: new NodeSource({
      ...{ nodes, addresses: [LAND], head, confirmations, readRange },
      ...{ nowMs: () => NOW_MS, steadyMs: () => timing.nowMs() },
    }),
  }
}

/** Like CHAIN, with two logs of LAND in each block. */
const LOGGED = makeChain({ from: 100, count: 20, logsAt: () => 2 })
const newest = (blocks: readonly ScriptedBlock[]) => {
  const { number, hash, parentHash, timestamp } = blocks.at(-1)!.header
  return { number: Number(number), hash: hash!, parentHash: parentHash!, timeS: Number(timestamp) }
}

async function logged(count: number) {
  const connected = await connect(Array.from({ length: count }, () => LOGGED))
  for (const scripted of connected.all) scripted.finalized = 104
  await connected.source.heads()
  for (const scripted of connected.all) scripted.calls.length = 0
  const isCalled = (method: string) =>
    connected.all.map(({ calls }) => calls.some((one) => one.method === method))
  return { ...connected, isCalled }
}

test('where the bloom excludes the contracts, nothing is asked for', async () => {
  const { nodes, isCalled } = await logged(1)
  const header = (await nodes.headerOf(newest(LOGGED).hash))!
  const other = `0x${'77'.repeat(20)}`
  expect(await confirmedLogsOf(nodes, header, [other], {})).toEqual({ logs: [], by: 'proven' })
  expect(isCalled('eth_getLogs')).toEqual([false])
  const empty = { ...header, logsBloom: `0x${'00'.repeat(256)}` }
  await confirmedLogsOf(nodes, empty, [other], {})
  expect(isCalled('eth_getLogs')).toEqual([true])
})

test('a node on another host says the same, or the receipts say who is right', async () => {
  const { source, all, nodes, isCalled } = await logged(2)
  expect(await source.confirmedLogs(newest(LOGGED))).toHaveLength(2)
  expect(isCalled('eth_getBlockReceipts')).toEqual([false, false])
  all[0]!.fault = ({ method }) => (method === 'eth_getLogs' ? { result: [] } : undefined)
  expect(await source.confirmedLogs(newest(LOGGED))).toHaveLength(2)
  expect(source.confirmations).toEqual(
    new Map([
      ['agreed', 1],
      ['proven', 1],
    ]),
  )
  expect((await nodes.candidates()).map(({ name }) => name)).toEqual(['node2', 'node1'])
})

test('without receipts the longer of two answers is right, and two that have different logs are none', async () => {
  const { source, all } = await logged(2)
  const [one, two] = LOGGED[19]!.logs
  const answer = (logs: readonly unknown[]) => (call: { readonly method: string }) =>
    call.method === 'eth_getLogs'
      ? { result: logs }
      : call.method === 'eth_getBlockReceipts'
        ? { result: null }
        : undefined
  all[0]!.fault = answer([two])
  all[1]!.fault = answer([one, two])
  expect(await source.confirmedLogs(newest(LOGGED))).toHaveLength(2)
  all[0]!.fault = answer([one])
  all[1]!.fault = answer([two])
  await expect(source.confirmedLogs(newest(LOGGED))).rejects.toThrow('another node has other logs')
})

test('the newest block of a node alone waits for the next one, for 15 seconds at most', async () => {
  const { source, all, timing } = await logged(1)
  let hasLogs = false
  all[0]!.fault = ({ method, params }) => {
    if (method === 'eth_getBlockReceipts') return { error: { code: -32_601, message: '' } }
    const isByHash = method === 'eth_getLogs' && 'blockHash' in (params[0] as object)
    return isByHash && !hasLogs ? { result: [] } : undefined
  }
  const [before, last] = [newest(LOGGED.slice(0, 19)), newest(LOGGED)]
  expect(await source.confirmedLogs(before)).toHaveLength(2)
  expect(await source.confirmedLogs(last)).toBeUndefined()
  timing.advance(14_999)
  expect(await source.confirmedLogs(last)).toBeUndefined()
  timing.advance(1)
  hasLogs = true
  expect(await source.confirmedLogs(last)).toHaveLength(2)
  expect(source.confirmations).toEqual(
    new Map([
      ['repeated', 1],
      ['alone', 1],
    ]),
  )
})
