import { expect, test } from 'vitest'
import { ChunkCache, MOST_PIXELS } from './chunk-cache.ts'

const WORLD = { columns: 301, rows: 301 }
const ALL = { column: 0, row: 0, ...WORLD }

/** A cache whose canvases are objects with a size: it uses nothing else of them. */
function cacheOf(world = WORLD) {
  return new ChunkCache(world, () => ({ width: 0, height: 0 }) as HTMLCanvasElement)
}

test('the chunks of a level cover the world, each cell once', () => {
  const cache = cacheOf()
  for (const cellPx of [0.7, 1, 2.36, 18, 250]) {
    const times = new Uint8Array(WORLD.columns * WORLD.rows)
    for (const { column, row, columns, rows } of cache.rangesOver(cache.level(cellPx), ALL)) {
      for (let x = column; x < column + columns; x++)
        for (let y = row; y < row + rows; y++) times[x * WORLD.rows + y]! += 1
    }
    expect(
      times.every((count) => count === 1),
      `${cellPx} pixels a parcel`,
    ).toBe(true)
  }
})

test('beyond the world there are none', () => {
  const cache = cacheOf()
  const level = cache.level(18)

  expect(cache.rangesOver(level, { column: 301, row: 0, columns: 50, rows: 50 })).toEqual([])
  expect(cache.rangesOver(level, { column: 0, row: 0, columns: 0, rows: 50 })).toEqual([])
})

test('a change marks the chunk that shows it in every level, and no other', () => {
  const cache = cacheOf()
  const levels = [cache.level(4), cache.level(20)]
  for (const level of levels) {
    for (const range of cache.rangesOver(level, ALL)) cache.take(level, range, 1).isStale = false
  }

  cache.touch(100, 200)

  for (const level of levels) {
    const stale = [...level.chunks.values()].filter(({ isStale }) => isStale).map(({ range }) => range)
    expect(stale).toHaveLength(1)
    const [{ column, row, columns, rows }] = stale as [(typeof stale)[0]]
    expect(column <= 100 && 100 < column + columns && row <= 200 && 200 < row + rows).toBe(true)
  }
})

test('however far the map is moved, the cached pictures stay within bounds; those on the screen stay', () => {
  const cache = cacheOf()
  let frame = 0
  for (const cellPx of [40, 41, 42, 43]) {
    const level = cache.level(cellPx)
    for (const range of cache.rangesOver(level, ALL)) {
      cache.take(level, range, ++frame)
      expect(cache.sizePx).toBeLessThanOrEqual(MOST_PIXELS)
    }
  }
  const level = cache.level(43)
  const latest = cache.rangesOver(level, ALL).at(-1)!
  expect(cache.find(level, latest)).toBeDefined()
  expect(cache.find(cache.level(40), { column: 0, row: 0, columns: 8, rows: 8 })).toBeUndefined()
})
