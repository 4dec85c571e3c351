import { expect, test } from 'vitest'
import { fetchUpToDate } from './fetch-up-to-date.ts'

const headerOf = (number: number, branch = 'a') => ({
  number,
  hash: `${branch}${number}`,
  parentHash: '',
  timeS: 0,
})

test('blocks that become final while the history is read are read too, until few are missing', async () => {
  let final = 1_000
  const fetched: number[] = []
  const block = await fetchUpToDate({
    lastBlock: async () => headerOf(final),
    headerByNumber: async (number) => headerOf(number),
    fetchTo: async ({ number }) => {
      final += fetched.length === 0 ? 900 : fetched.length === 1 ? 64 : 16
      fetched.push(number)
    },
  })
  expect(fetched).toEqual([1_000, 1_900, 1_964])
  expect(block).toEqual(headerOf(1_964))
})

test('a last block that was replaced meanwhile makes no world', async () => {
  const fetching = fetchUpToDate({
    lastBlock: async () => headerOf(1_000),
    headerByNumber: async (number) => headerOf(number, 'b'),
    fetchTo: async () => undefined,
  })
  await expect(fetching).rejects.toThrow('block 1000 was replaced')
})
