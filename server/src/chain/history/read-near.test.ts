import { expect, test } from 'vitest'
import type { RawLog } from '../chain-types.ts'
import { readNodeAddress } from '../rpc/node-address.ts'
import { NodeError } from '../rpc/node-error.ts'
import { readerNear } from './read-near.ts'

const ADDRESS = readNodeAddress('node1', 'http://node.example')
const header = (hash: string, number = 1) => ({ number, hash, parentHash: '', timeS: 0 })
const LOG: RawLog = {
  address: '0x1a',
  topics: [],
  data: '0x',
  blockNumber: 4,
  blockHash: 'head',
  txHash: '0x',
  txIndex: 0,
  logIndex: 0,
  blockTimeS: undefined,
}

/** A reader near `block`, of a node that has the states of these blocks only. */
function readerOf(
  states: readonly string[],
  kind: 'history' | 'refused' | 'timeout' = 'history',
  headOfLogs = 'head',
) {
  const asked: string[] = []
  const ranges: [number, number][] = []
  const read = readerNear(header('block'), {
    source: {
      heads: async () => ({
        latest: header('head', 4),
        head: header('head', 4),
        finalized: header('final', 2),
      }),
      logsOfRange: async ({ first, last }) => {
        ranges.push([first, last])
        return { logs: [LOG], ends: [{ number: 4, hash: headOfLogs }] }
      },
    },
    readContract: async (_call, hash) => {
      asked.push(hash)
      if (!states.includes(hash)) throw new NodeError(ADDRESS, 'eth_call', { kind })
      return `at ${hash}`
    },
  })
  const readAnswer = () => read({ to: '0x01', data: '0x02' })
  return { asked, ranges, readAnswer, read: async () => (await readAnswer()).returned }
}

test('the state of the block is read as long as the node has it', async () => {
  const { read, asked } = readerOf(['block', 'final', 'head'])
  expect([await read(), await read()]).toEqual(['at block', 'at block'])
  expect(asked).toEqual(['block', 'block'])
})

test.each(['history', 'refused'] as const)(
  'a dropped state (%s) is replaced by a newer one',
  async (kind) => {
    const final = readerOf(['final', 'head'], kind)
    expect([await final.read(), await final.read()]).toEqual(['at final', 'at final'])
    expect(final.asked).toEqual(['block', 'final', 'final'])
    const head = readerOf(['head'], kind)
    expect([await head.read(), await head.read()]).toEqual(['at head', 'at head'])
    expect(head.asked).toEqual(['block', 'final', 'head', 'head'])
  },
)

test('what is read at the head comes with the logs that may be undone, and is not final', async () => {
  const { readAnswer, ranges } = readerOf(['head'])
  const [first, second] = [await readAnswer(), await readAnswer()]
  expect(first).toMatchObject({ returned: 'at head', isFinal: false, unsettled: [LOG] })
  expect(second).toEqual(first)
  expect(ranges).toEqual([[3, 4]])
  expect(await readerOf(['final']).readAnswer()).toMatchObject({ isFinal: true, unsettled: [] })
})

test('a head that is replaced while its logs are read is not used', async () => {
  await expect(readerOf(['head'], 'history', 'other').read()).rejects.toThrow('was replaced')
})

test('other failures are not hidden, nor is a node without any state', async () => {
  await expect(readerOf(['head'], 'timeout').read()).rejects.toThrow('no answer before the deadline')
  await expect(readerOf([]).read()).rejects.toThrow('does not have the data')
})
