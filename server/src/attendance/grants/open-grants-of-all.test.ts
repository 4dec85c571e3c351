import { expect, test } from 'vitest'
import { OpenGrantsOfAll } from './open-grants-of-all.ts'

const MAX_AGE_MS = 30_000
const WAIT_MS = 5

/** Counts that the test answers or refuses, and a clock that it sets. */
function setup() {
  const counts: { readonly answer: (count: number) => void; readonly fail: (error: Error) => void }[] = []
  const count = () =>
    new Promise<number>((answer, fail) => {
      counts.push({ answer, fail })
    })
  let nowMs = 0
  const all = new OpenGrantsOfAll({ count, maxAgeMs: MAX_AGE_MS, waitMs: WAIT_MS, time: () => nowMs })
  const store = () =>
    all.add(
      async () => 'stored',
      () => true,
    )
  return {
    all,
    counts,
    store,
    pass: (ms: number) => {
      nowMs += ms
    },
    /** A refresh whose count has an answer. */
    know: async (size: number) => {
      const refreshed = all.refresh()
      counts.at(-1)!.answer(size)
      await refreshed
    },
  }
}

test('without a count, grants wait for the first one', async () => {
  const { all, counts } = setup()
  let isDone = false
  const refreshed = Promise.all([all.refresh(), all.refresh()]).then(() => {
    isDone = true
  })
  const known = setup()
  await known.know(7)
  known.pass(MAX_AGE_MS)
  await known.all.refresh() // waits for a count that has no answer, but not for ever

  expect(isDone).toBe(false)
  counts[0]!.answer(7)
  await refreshed
  expect([all.size, counts.length]).toEqual([7, 1])
})

test('without a count, grants are refused where counting fails, and it is tried again after some seconds', async () => {
  const { all, counts, pass, know } = setup()
  const refused = all.refresh()
  counts[0]!.fail(new Error('down'))

  await expect(refused).rejects.toThrow('down')
  await expect(all.refresh()).rejects.toThrow('down')
  expect(counts).toHaveLength(1)
  pass(5_000)
  await know(7)
  expect([all.size, counts.length]).toEqual([7, 2])
})

test('the count before is used while a new one fails, which is tried again after its time', async () => {
  const { all, counts, pass, know, store } = setup()
  await know(7)
  await store()
  pass(MAX_AGE_MS)
  const refreshed = all.refresh()
  counts[1]!.fail(new Error('57014'))
  await refreshed
  for (let n = 0; n < 20; n++) await all.refresh()
  await store()

  expect([all.size, counts.length]).toEqual([9, 2])
  pass(MAX_AGE_MS)
  await know(3)
  expect([all.size, counts.length]).toEqual([3, 3])
})

test('the count before is used while a new one takes long, and what is stored meanwhile is added', async () => {
  const { all, counts, pass, know, store } = setup()
  await know(7)
  pass(MAX_AGE_MS)
  await all.refresh()
  expect(all.size).toBe(7)
  await store()
  pass(WAIT_MS)
  await all.refresh()
  expect([all.size, counts.length]).toEqual([8, 2])

  counts[1]!.answer(5)
  await all.refresh()
  expect([all.size, counts.length], 'the one stored meanwhile may be beside the five').toEqual([6, 2])
})

test('a grant counts while it is being stored, and not if it is refused', async () => {
  const { all, know } = setup()
  await know(1)
  let sizeMeanwhile = 0
  const store = async () => {
    sizeMeanwhile = all.size
    throw new Error('full')
  }

  await expect(all.add(store, () => true)).rejects.toThrow('full')
  await all.add(
    async () => 'nonce_taken',
    () => false,
  )
  expect([sizeMeanwhile, all.size]).toEqual([2, 1])
})

test('after a withdrawal they are counted again, also where a count was running', async () => {
  const { all, counts, know } = setup()
  await know(7)
  all.forget()
  const refreshed = all.refresh()
  all.forget()
  counts[1]!.answer(7)
  await refreshed
  await know(2)

  expect([all.size, counts.length]).toEqual([2, 3])
})
