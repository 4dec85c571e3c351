import fc from 'fast-check'
import { expect, test } from 'vitest'
import { heightAfter, heightAfterDrag, SHEET_HEIGHTS } from './sheet-height.ts'

const heights = { low: 100, half: 380, full: 700 }

test('a sheet that is let go rests at one of its heights, never against the direction of the drag', () => {
  fc.assert(
    fc.property(fc.constantFrom(...SHEET_HEIGHTS), fc.integer({ min: -200, max: 1000 }), (from, endPx) => {
      const rest = heightAfterDrag(from, endPx, heights)
      const [movedPx, wentPx] = [endPx - heights[from], heights[rest] - heights[from]]

      expect(wentPx === 0 || Math.sign(wentPx) === Math.sign(movedPx)).toBe(true)
      const isAtItsEnd = movedPx > 0 ? from === 'full' : from === 'low'
      if (Math.abs(movedPx) >= 48) expect(rest === from).toBe(isAtItsEnd)
    }),
    { seed: 7 },
  )
})

test('a small drag changes nothing, and a long one skips the height between', () => {
  expect(heightAfterDrag('half', 400, heights)).toBe('half')
  expect(heightAfterDrag('low', 690, heights)).toBe('full')
})

test('the button goes through all heights', () => {
  expect([heightAfter('half'), heightAfter('full'), heightAfter('low')]).toEqual(['full', 'low', 'half'])
})
