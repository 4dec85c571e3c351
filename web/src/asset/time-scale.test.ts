import fc from 'fast-check'
import { expect, test } from 'vitest'
import { timeScale } from './time-scale.ts'

const day = (year: number, month: number, date = 1) => Date.UTC(year, month - 1, date)
const times = fc.array(fc.integer({ min: 0, max: day(2100, 1) }), { minLength: 1, maxLength: 50 })

test('every time is on the axis, and so is every tick', () => {
  fc.assert(
    fc.property(times, (some) => {
      const { ticks, position } = timeScale(some)

      for (const at of [...some, ...ticks].map(position)) {
        expect(at).toBeGreaterThanOrEqual(0)
        expect(at).toBeLessThanOrEqual(1)
      }
    }),
  )
})

test('one to four dates that rise, the beginnings of days, months or years', () => {
  fc.assert(
    fc.property(times, (some) => {
      const { ticks, unit } = timeScale(some)

      expect(ticks.length).toBeGreaterThanOrEqual(1)
      expect(ticks.length).toBeLessThanOrEqual(4)
      expect([...ticks].sort((a, b) => a - b)).toEqual(ticks)
      const written = { day: 'T00:00', month: '-01T00:00', year: '-01-01T00:00' }[unit]
      for (const tick of ticks) expect(new Date(tick).toISOString()).toContain(written)
    }),
  )
})

test.each([
  [[day(2019, 6), day(2022, 2)], 'year', [day(2020, 1), day(2021, 1), day(2022, 1)]],
  [[day(2019, 6, 7), day(2019, 12, 3)], 'month', [day(2019, 7), day(2019, 10)]],
  [[day(2019, 6, 7), day(2019, 6, 9)], 'day', [day(2019, 6, 7), day(2019, 6, 9)]],
])('%j', (some, unit, ticks) => {
  expect(timeScale(some)).toMatchObject({ unit, ticks })
})

test('a single time stands in the middle', () => {
  expect(timeScale([day(2020, 5, 5)]).position(day(2020, 5, 5))).toBe(0.5)
})
