import { expect, test } from 'vitest'
import { Batches, type BatchesOptions } from './batches.ts'

/** Writes that wait until the test ends them. */
function heldWrites({ distinctBy, atOnce }: BatchesOptions<string> = {}) {
  const writes: { readonly items: readonly string[]; readonly end: (error?: Error) => void }[] = []
  const write = (items: readonly string[]) =>
    new Promise<readonly string[]>((resolve, reject) => {
      const end = (error?: Error) => (error ? reject(error) : resolve(items.map((item) => `${item} written`)))
      writes.push({ items, end })
    })
  const batches = new Batches(write, { distinctBy, atOnce })
  return { batches, writes }
}

test('items that arrive during a write go into the next one, at most fifty', async () => {
  const { batches, writes } = heldWrites()

  const first = batches.add('first')
  const others = Array.from({ length: 60 }, (_, i) => batches.add(`${i}`))
  expect(writes.map(({ items }) => items)).toEqual([['first']])
  writes[0]!.end()
  expect(await first).toBe('first written')
  writes[1]!.end()
  await others[49]
  writes[2]!.end()

  expect(await others[59]).toBe('59 written')
  expect(writes.map(({ items }) => items.length)).toEqual([1, 50, 10])
  expect(batches.isIdle).toBe(true)
})

test('with several writes at once another one begins when a dozen items wait, and the rest waits for the end of one', async () => {
  const { batches, writes } = heldWrites({ atOnce: 2 })
  const lengths = () => writes.map(({ items }) => items.length)

  const all = Array.from({ length: 12 }, (_, i) => batches.add(`${i}`))
  expect(lengths()).toEqual([1])
  for (let i = 12; i < 40; i++) all.push(batches.add(`${i}`))
  expect(lengths(), 'two at once').toEqual([1, 12])
  writes[1]!.end()
  await all[12]
  expect(lengths()).toEqual([1, 12, 27])
  writes[2]!.end()
  await all[39]
  expect(batches.isIdle, 'the first one runs').toBe(false)
  all.push(batches.add('40'))
  expect(lengths(), 'one item waits while a write runs').toEqual([1, 12, 27])
  writes[0]!.end()
  await all[0]
  writes[3]!.end()

  expect(await all[40]).toBe('40 written')
  expect(batches.isIdle).toBe(true)
})

test('a second item with what must be distinct waits for the next write, and the others do not', async () => {
  const { batches, writes } = heldWrites({ distinctBy: (item) => item[0] })

  const all = ['x', 'a1', 'a2', 'b1', 'a3'].map((item) => batches.add(item))
  for (let at = 0; at < 4; at++) {
    writes[at]!.end()
    await all[[0, 1, 2, 4][at]!]
  }

  expect(writes.map(({ items }) => items)).toEqual([['x'], ['a1', 'b1'], ['a2'], ['a3']])
  expect(await Promise.all(all)).toEqual(['x', 'a1', 'a2', 'b1', 'a3'].map((item) => `${item} written`))
})

test('a write that fails rejects its items alone', async () => {
  const { batches, writes } = heldWrites()

  const [first, second] = [batches.add('first'), batches.add('second')]
  writes[0]!.end(new Error('no connection'))
  await expect(first).rejects.toThrow('no connection')
  writes[1]!.end()

  expect(await second).toBe('second written')
})
