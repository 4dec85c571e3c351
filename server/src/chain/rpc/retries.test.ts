import { expect, test } from 'vitest'
import {
  type Fault,
  FixedTiming,
  LAND,
  makeChain,
  ScriptedNode,
} from '../../../test/support/chain/scripted-node.ts'
import { connectNodes } from './connect.ts'
import { readNodeAddress } from './node-address.ts'
import { NodeError } from './node-error.ts'
import { retryPauseMs, runWithRetries, withRetries } from './retries.ts'

const CHAIN = makeChain({ from: 100, count: 3, logsAt: () => 0 })
const CALL = { to: LAND, data: '0x18160ddd' }
const ADDRESS = readNodeAddress('node1', 'http://node.example')
const PRUNED: Fault = { error: { code: 4444, message: 'pruned history unavailable' } }

/** Reads a contract with retries; each node answers `eth_call` by its list of faults, then well. */
async function readFrom(...faults: readonly (readonly Fault[])[]) {
  const timing = new FixedTiming()
  const left = faults.map((list) => [...list])
  const all = await Promise.all(
    left.map(async (list) => {
      const node = await ScriptedNode.start(CHAIN)
      node.fault = ({ method }) => (method === 'eth_call' ? (list.shift() ?? { result: '0x01' }) : undefined)
      return node
    }),
  )
  const nodes = connectNodes({
    urls: all.map(({ url }) => url),
    network: { chainId: 1, contracts: { LANDRegistry: { address: LAND, startBlock: 100 } } },
    timing,
    random: () => 0,
  })
  return runWithRetries(nodes, (node) => node.read(CALL, CHAIN[2]!.header.hash!), { timing })
}

test.each<[string, Fault]>([
  ['a refusal for the rate of calls', { status: 429, headers: { 'retry-after': '4' } }],
  ['a broken connection', { status: 502 }],
  ['a wrong answer', { result: 7 }],
])('%s does not end the reading of one node', async (_name, fault) => {
  expect(await readFrom([fault, fault])).toBe('0x01')
})

test('a node without the state is not the last word while another one only limits the rate', async () => {
  expect(await readFrom([{ status: 429 }], [PRUNED])).toBe('0x01')
})

test('what repeating cannot mend fails at once, and what never ends fails after eight tries', async () => {
  const triesOf = async (kind: 'history' | 'reverted' | 'rate_limit') => {
    let tries = 0
    const timing = new FixedTiming()
    const work = async () => {
      tries++
      throw new NodeError(ADDRESS, 'eth_call', { kind })
    }
    await expect(withRetries(work, { timing })).rejects.toThrow(NodeError)
    return tries
  }
  expect([await triesOf('history'), await triesOf('reverted'), await triesOf('rate_limit')]).toEqual([
    1, 1, 8,
  ])
})

test('pauses double up to a minute', () => {
  const error = new NodeError(ADDRESS, 'eth_call', { kind: 'timeout' })
  expect([1, 3, 7, 20].map((tries) => retryPauseMs(tries, error))).toEqual([1_000, 4_000, 60_000, 60_000])
})
