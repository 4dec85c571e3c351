import { expect, test } from 'vitest'
import { wheelFactor } from './wheel.ts'

const turn = (deltaY: number, { deltaMode = 0, ctrlKey = false } = {}) =>
  wheelFactor({ deltaY, deltaMode, ctrlKey })

test('a notch of a mouse brings the map about a third closer, and back again', () => {
  expect(turn(-120)).toBeCloseTo(1.37, 2)
  expect(turn(-120) * turn(120)).toBeCloseTo(1, 9)
  expect(turn(0)).toBe(1)
})

test('browsers that count lines or pages move it about as far', () => {
  expect(turn(-3, { deltaMode: 1 })).toBeCloseTo(turn(-120), 9)
  expect(turn(-1, { deltaMode: 2 })).toBeLessThan(2)
})

test('pinching a trackpad reports small numbers, and zooms faster', () => {
  expect(turn(-10, { ctrlKey: true })).toBeGreaterThan(turn(-10))
  expect(turn(-120, { ctrlKey: true }), 'a mouse with ctrl held').toBe(turn(-120))
})

test('the zoom of one turn is limited', () => {
  expect(turn(-100_000)).toBeLessThan(2)
  expect(turn(100_000)).toBeGreaterThan(0.5)
})
