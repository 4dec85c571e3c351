import { expect, test } from 'vitest'
import {
  FixedTiming,
  LAND,
  makeChain,
  type ScriptedBlock,
  ScriptedNode,
} from '../../../test/support/scripted-node.ts'
import type { ChainHead } from '../../config/config.ts'
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
  expect(nodes.status()[0]!.errorRate).toBeGreaterThan(0)
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
  await expect(source.heads()).rejects.toThrow('no node knows a final block')
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

async function connect(chains: readonly (readonly ScriptedBlock[])[], head: ChainHead = 'latest') {
  const all = await Promise.all(chains.map((chain) => ScriptedNode.start(chain)))
  const nodes = connectNodes({
    urls: all.map(({ url }) => url),
    network: { chainId: 1, contracts: { LANDRegistry: { address: LAND, startBlock: 100 } } },
    timing: new FixedTiming(),
    random: () => 0,
  })
  const readRange = () => expect.fail('no range is read')
  return {
    nodes,
    all,
    source: new NodeSource({ nodes, addresses: [LAND], head, nowMs: () => NOW_MS, readRange }),
  }
}
