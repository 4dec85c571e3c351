import { expect, test } from 'vitest'
import {
  type Fault,
  FixedTiming,
  LAND,
  makeChain,
  type ScriptedBlock,
  ScriptedNode,
} from '../../../test/support/chain/scripted-node.ts'
import { connectNodes } from './connect.ts'

const CHAIN = makeChain({ from: 100, count: 20 })
const LONGER = makeChain({ from: 100, count: 30 })

const REFUSALS: readonly (readonly [string, Fault])[] = [
  [
    'an unknown tag',
    { error: { code: -32_602, message: 'invalid argument 0: hex string without 0x prefix' } },
  ],
  ['words about the size of a range', { error: { code: -32_005, message: 'block range too large' } }],
  ['an answer that is too large', { status: 413 }],
  ['an unknown method', { error: { code: -32_601, message: 'the method does not exist' } }],
]

const refuseLatest =
  (fault: Fault) =>
  ({ method, params }: { readonly method: string; readonly params: readonly unknown[] }) =>
    method === 'eth_getBlockByNumber' && params[0] === 'latest' ? fault : undefined

test.each(REFUSALS)('a node that refuses its newest block has none: %s', async (_name, fault) => {
  const { nodes, all } = await connect([CHAIN, CHAIN])
  await nodes.head()
  for (const scripted of all) scripted.blocks = LONGER
  all[0]!.fault = refuseLatest(fault)
  const { node, header } = await nodes.head()
  expect([node.name, header.number]).toEqual(['node2', 129])

  all[1]!.fault = all[0]!.fault
  await expect(nodes.head()).rejects.toThrow(/node[12] /)
  for (const scripted of all) scripted.fault = () => undefined
  expect((await nodes.head()).header.number).toBe(129)
})

test('a single node that refuses its newest block is an error, and not without news', async () => {
  const { nodes, all } = await connect([CHAIN])
  await nodes.head()
  all[0]!.fault = refuseLatest(REFUSALS[0]![1])

  await expect(nodes.head()).rejects.toThrow('hex string without 0x prefix')
})

test('a head far above all others, whose chain its node does not have, makes no other node lag', async () => {
  const { nodes, all, timing } = await connect([CHAIN, CHAIN, CHAIN])
  await nodes.head()
  const [invented] = makeChain({ from: 9_000_000, count: 1, salt: 'f0' })
  all[1]!.fault = refuseLatest({ result: invented!.header })
  timing.advance(60_000)

  expect((await nodes.head()).node.name).toBe('node1')
  expect(nodes.status().map(({ state }) => state)).toEqual(['usable', 'avoided', 'usable'])
})

test('nor does one of a chain without the last final block', async () => {
  const { nodes, all, timing } = await connect([CHAIN, CHAIN])
  for (const scripted of all) scripted.finalized = 110
  await nodes.head()
  expect((await nodes.finalized())?.number).toBe(110)
  all[1]!.blocks = [
    ...CHAIN.slice(0, 5),
    ...makeChain({ from: 105, count: 30, salt: 'f0', parentHash: CHAIN[4]!.header.hash! }),
  ]
  timing.advance(60_000)

  expect((await nodes.head()).node.name).toBe('node1')
  expect(nodes.status().map(({ state }) => state)).toEqual(['usable', 'avoided'])
})

test('a node that is really ahead is checked once for many blocks', async () => {
  const { nodes, all, timing } = await connect([CHAIN, CHAIN])
  await nodes.head()
  const checks: number[] = []
  for (let number = 130; number < 140; number++) {
    all[1]!.blocks = makeChain({ from: 100, count: number - 99 })
    timing.advance(60_000)
    expect((await nodes.head()).header.number).toBe(number)
    checks.push(all[1]!.takeMethods().filter((method) => method === 'eth_getBlockByHash').length)
  }

  expect(checks).toEqual([1, ...Array.from({ length: 9 }, () => 0)])
  expect(nodes.status().map(({ state }) => state)).toEqual(['lagging', 'usable'])
})

test('the reason why no node says what is final is not hidden', async () => {
  const { nodes, all } = await connect([CHAIN])
  await nodes.head()
  all[0]!.fault = ({ params }) =>
    params[0] === 'finalized' ? { error: { code: -32_602, message: 'unknown tag' } } : undefined

  await expect(nodes.finalized()).rejects.toThrow('unknown tag')
  all[0]!.fault = () => ({ status: 502 })
  await expect(nodes.finalized()).rejects.toThrow('HTTP 502')
  await expect(nodes.finalized()).rejects.toThrow('no Ethereum node can be asked')
})

async function connect(chains: readonly (readonly ScriptedBlock[])[]) {
  const all = await Promise.all(chains.map((chain) => ScriptedNode.start(chain)))
  const timing = new FixedTiming()
  const nodes = connectNodes({
    urls: all.map(({ url }) => url),
    network: { chainId: 1, contracts: { LANDRegistry: { address: LAND, startBlock: 100 } } },
    timing,
    random: () => 0,
  })
  return { nodes, all, timing }
}
