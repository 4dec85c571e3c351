import { expect, test } from 'vitest'
import { readNodeAddress } from '../rpc/node-address.ts'
import { NodeError } from '../rpc/node-error.ts'
import { readerNear } from './read-near.ts'

const ADDRESS = readNodeAddress('node1', 'http://node.example')
const header = (hash: string) => ({ number: 1, hash, parentHash: '', timeS: 0 })

/** A reader near `block`, of a node that has the states of these blocks only. */
function readerOf(states: readonly string[], kind: 'history' | 'refused' | 'timeout' = 'history') {
  const asked: string[] = []
  const read = readerNear(header('block'), {
    source: {
      heads: async () => ({ latest: header('head'), head: header('head'), finalized: header('final') }),
    },
    readContract: async (_call, hash) => {
      asked.push(hash)
      if (!states.includes(hash)) throw new NodeError(ADDRESS, 'eth_call', { kind })
      return `at ${hash}`
    },
  })
  return { asked, read: () => read('0x01', '0x02') }
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

test('other failures are not hidden, nor is a node without any state', async () => {
  await expect(readerOf(['head'], 'timeout').read()).rejects.toThrow('no answer before the deadline')
  await expect(readerOf([]).read()).rejects.toThrow('does not have the data')
})
