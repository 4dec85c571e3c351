import { expect, test } from 'vitest'
import { RecentFigure } from './recent-figure.ts'

const HOUR_MS = 3_600_000

test('a figure is read once for all that ask while it is read, and for its time afterwards', async () => {
  let reads = 0
  const figure = new RecentFigure(async () => ++reads, { maxAgeMs: HOUR_MS })

  expect(await Promise.all([figure.read(), figure.read()])).toEqual([1, 1])
  expect(await figure.read()).toBe(1)
})

test('while the database hangs, the last known figure is the answer, and no more reads are started', async () => {
  let reads = 0
  const hangs = () => new Promise<number>(() => {})
  const figure = new RecentFigure(() => (++reads === 1 ? Promise.resolve(7) : hangs()), {
    maxAgeMs: 0,
    waitMs: 5,
  })

  expect(await figure.read()).toBe(7)
  expect(await Promise.all([figure.read(), figure.read()])).toEqual([7, 7])
  expect(await figure.read()).toBe(7)
  expect(reads).toBe(2)
  expect(await new RecentFigure(hangs, { maxAgeMs: 0, waitMs: 5 }).read()).toBeUndefined()
})

test('a read that fails leaves no figure, and the next one is tried again', async () => {
  const results = [Promise.resolve(1), Promise.reject(new Error('down')), Promise.resolve(3)]
  results[1]!.catch(() => {})
  const figure = new RecentFigure(() => results.shift()!, { maxAgeMs: 0 })

  expect([await figure.read(), await figure.read(), await figure.read()]).toEqual([1, undefined, 3])
})
