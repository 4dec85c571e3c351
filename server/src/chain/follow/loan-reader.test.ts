import { expect, test } from 'vitest'
import { readNodeAddress } from '../rpc/node-address.ts'
import { type FailureKind, NodeError, type NodeFailure } from '../rpc/node-error.ts'
import { LoanReader } from './loan-reader.ts'

const ADDRESS = readNodeAddress('node1', 'http://127.0.0.1:1')
const header = (number: number) => ({ number, hash: `block ${number}`, parentHash: '', timeS: 0 })
const HEADS = { latest: header(20), head: header(10), finalized: header(10) }
const ONE = `0x${'1'.padStart(64, '0')}`

function readerOf(states: Readonly<Record<string, FailureKind | 'no loan' | 'terms'>>) {
  const asked: string[] = []
  const reader = new LoanReader({
    contract: '0xloans',
    readContract: async (_call, blockHash) => {
      asked.push(blockHash)
      const state = states[blockHash]!
      if (state === 'terms') return ONE
      if (state === 'no loan') return '0x'
      throw new NodeError(ADDRESS, 'eth_call', { kind: state } as NodeFailure)
    },
    lastHeads: () => HEADS,
  })
  return { reader, asked: () => [...new Set(asked)] }
}

test('near the head the terms are read after their own block', async () => {
  const { reader, asked } = readerOf({ 'block 12': 'terms', 'block 20': 'no loan' })

  expect(await reader.termsAt(7n, header(12))).toMatchObject({ amountWei: 1n, expiresAt: 1n })
  expect(asked()).toEqual(['block 12'])
})

test.each<[FailureKind]>([['history'], ['refused']])(
  'old blocks have no state (%s): the newest one is read',
  async (kind) => {
    const { reader, asked } = readerOf({ 'block 12': kind, 'block 20': 'terms' })

    expect(await reader.termsAt(7n, header(12))).toMatchObject({ amountWei: 1n })
    expect(asked()).toEqual(['block 12', 'block 20'])
  },
)

test('a node that does not have the block yet is asked again later', async () => {
  const { reader } = readerOf({ 'block 20': 'unknown_block', 'block 21': 'history' })

  await expect(reader.termsAt(7n, header(20))).rejects.toMatchObject({ kind: 'unknown_block' })
  await expect(reader.termsAt(7n, header(21))).rejects.toMatchObject({ kind: 'history' })
})

test('where the contract has no such loan, there are no terms; an error of this program is one', async () => {
  const { reader } = readerOf({ 'block 12': 'no loan', 'block 10': 'reverted' })
  expect(await reader.termsAt(7n, header(12))).toBeUndefined()
  expect(await reader.termsAt(7n, header(10))).toBeUndefined()
  expect(await reader.termsBy(7n, async () => '0x')).toBeUndefined()
  expect(await reader.termsBy(7n, async () => ONE)).toMatchObject({ amountWei: 1n })

  const options = { lastHeads: () => HEADS }
  const fails = async () => {
    throw new RangeError('Maximum call stack size exceeded')
  }
  const broken = new LoanReader({ contract: '0xloans', readContract: fails, ...options })
  await expect(broken.termsAt(7n, header(12))).rejects.toThrow('call stack')
  const none = new LoanReader({ contract: undefined, readContract: fails, ...options })
  expect(await none.termsAt(7n, header(12))).toBeUndefined()
})
