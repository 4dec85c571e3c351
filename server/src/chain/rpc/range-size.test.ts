import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RangeSize } from './range-size.ts'

const range = (blocks: number, fromBlock = 1_000) => ({ fromBlock, toBlock: fromBlock + blocks - 1 })

test('ranges double while they are answered, up to the limit', () => {
  const size = new RangeSize(1_000, 5_000)
  const sizes = Array.from({ length: 5 }, () => {
    size.noteAnswer(size.blocks)
    return size.blocks
  })

  expect(sizes).toEqual([2_000, 4_000, 5_000, 5_000, 5_000])
  size.noteAnswer(3)
  expect(size.blocks, 'a short last range says nothing').toBe(5_000)
})

test('the range or the number that a node names is used, else half', () => {
  const suggested = new RangeSize(1_000, 5_000)
  suggested.noteRefusal(range(1_000), {
    kind: 'too_many_results',
    suggested: { fromBlock: 1_000, toBlock: 1_299 },
  })
  expect(suggested.blocks).toBe(300)

  const named = new RangeSize(1_000, 5_000)
  named.noteRefusal(range(1_000), { kind: 'range_too_large', maxBlocks: 800 })
  expect(named.blocks).toBe(800)
  named.noteAnswer(800)
  expect(named.blocks, 'a limit that the node has named is never exceeded').toBe(800)

  for (const failure of [
    { kind: 'too_many_results' },
    { kind: 'timeout' },
    { kind: 'range_too_large', maxBlocks: 1_000 },
    { kind: 'too_many_results', suggested: { fromBlock: 5, toBlock: 9 } },
    { kind: 'too_many_results', suggested: range(1_000) },
  ] as const) {
    const halved = new RangeSize(1_000, 5_000)
    halved.noteRefusal(range(1_000), failure)
    halved.noteRefusal(range(1_000), failure)
    expect(halved.blocks, JSON.stringify(failure)).toBe(500)
  }
})

test('a limit of results is left behind, a limit of blocks is approached from below', () => {
  const dense = new RangeSize(1_000, 5_000)
  dense.noteRefusal(range(1_000), { kind: 'too_many_results' })
  for (let answer = 0; answer < 20; answer++) dense.noteAnswer(dense.blocks)
  expect(dense.blocks).toBe(5_000)

  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 1, max: 20_000 }), (limit, first) => {
      const size = new RangeSize(first, 20_000)
      let refusals = 0
      for (let call = 0; call < 60; call++) {
        if (size.blocks <= limit) size.noteAnswer(size.blocks)
        else {
          size.noteRefusal(range(size.blocks), { kind: 'range_too_large' })
          refusals += 1
        }
      }
      expect(refusals).toBeLessThan(40)
      expect(size.blocks).toBeLessThanOrEqual(Math.max(first, 2 * limit))
      for (let call = 0; call < 30; call++) {
        if (size.blocks <= limit) size.noteAnswer(size.blocks)
        else size.noteRefusal(range(size.blocks), { kind: 'range_too_large' })
      }
      expect(size.blocks, 'no refused calls go on for ever').toBeLessThanOrEqual(limit)
    }),
  )
})
