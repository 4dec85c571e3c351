import fc from 'fast-check'
import { expect, test } from 'vitest'
import { allowedView, wholeWorld } from './camera.ts'
import { Steering } from './steering.ts'

const WORLD = { minX: -150, minY: -150, maxX: 150, maxY: 150 }
const SCREEN = { widthPx: 1280, heightPx: 740 }
const SUDDEN = { isSudden: true }
const SMOOTH = { isSudden: false }

function steeringOf({ isReady = true } = {}) {
  const clock = { nowMs: 1000 }
  const changes = { count: 0 }
  const steering = new Steering({
    changed: () => {
      changes.count += 1
    },
    nowMs: () => clock.nowMs,
  })
  if (isReady) {
    steering.resize(SCREEN, 1)
    steering.setBounds(WORLD)
  }
  /** Runs frames until no motion is left. */
  const rest = () => {
    for (let frames = 0; steering.isMoving; frames++) {
      if (frames > 1000) expect.fail('it never rests')
      clock.nowMs += 16
      steering.goOn(clock.nowMs)
    }
    return steering.view
  }
  return { steering, rest, clock, changes }
}

test('shows the whole world as soon as there are a screen and a world', () => {
  const { steering } = steeringOf({ isReady: false })

  steering.setBounds(WORLD)
  expect(steering.view).toBeUndefined()
  steering.resize(SCREEN, 1)

  expect(steering.view).toEqual(wholeWorld(SCREEN, WORLD))
})

test('a view that is requested before there is a world is shown when there is one', () => {
  const { steering } = steeringOf({ isReady: false })

  steering.show({ x: 12, y: -34, zoom: 20 }, SMOOTH)
  steering.resize(SCREEN, 1)
  steering.setBounds(WORLD)

  expect(steering.view).toEqual({ x: 12, y: -34, zoom: 20 })
})

test('a map of the whole world still shows all of it on another screen; other views keep their place', () => {
  const { steering } = steeringOf()

  steering.resize({ widthPx: 390, heightPx: 700 }, 3)
  expect(steering.view).toEqual(wholeWorld({ widthPx: 390, heightPx: 700 }, WORLD))

  steering.show({ x: 12, y: -34, zoom: 20 }, SUDDEN)
  steering.resize(SCREEN, 1)
  expect(steering.view).toEqual({ x: 12, y: -34, zoom: 20 })
})

test('flies to a view and arrives exactly there, or jumps', () => {
  const { steering, rest } = steeringOf()
  const place = { x: 50, y: 60, zoom: 30 }

  steering.show(place, SMOOTH)
  expect([steering.isFlying, steering.isZooming]).toEqual([true, true])
  expect(rest()).toEqual(place)

  steering.show({ x: 0, y: 0, zoom: 10 }, SUDDEN)
  expect(steering.view).toEqual({ x: 0, y: 0, zoom: 10 })
})

test('steps in a row add up, also while the first is still under way', () => {
  const { steering, rest } = steeringOf()
  steering.show({ x: 0, y: 0, zoom: 6 }, SUDDEN)

  steering.step('in', steering.middle(), SMOOTH)
  steering.step('in', steering.middle(), SMOOTH)

  expect(rest()).toEqual({ x: 0, y: 0, zoom: 24 })
})

test('turns of the wheel add up, and arrive where one great turn would', () => {
  const spot = { xPx: 900, yPx: 200 }
  const [many, one] = [steeringOf(), steeringOf()]

  for (let turn = 0; turn < 3; turn++) many.steering.approach(1.5, spot, SMOOTH)
  one.steering.approach(1.5 ** 3, spot, SUDDEN)

  const [end, wanted] = [many.rest()!, one.steering.view!]
  expect(end.x).toBeCloseTo(wanted.x, 6)
  expect(end.y).toBeCloseTo(wanted.y, 6)
  expect(end.zoom).toBeCloseTo(wanted.zoom, 9)
})

test('a contact stops the running motion', () => {
  const { steering, clock, changes } = steeringOf()
  steering.show({ x: 0, y: 0, zoom: 20 }, SUDDEN)
  steering.glide(2, 0)
  clock.nowMs += 16
  steering.goOn(clock.nowMs)
  const { count } = changes

  steering.hold()

  const held = steering.view
  steering.goOn(clock.nowMs + 16)
  expect([steering.isMoving, steering.view]).toEqual([false, held])
  expect(changes.count).toBe(count + 1)
})

test('whatever a reader does, the view is one that is allowed', () => {
  const number = (min: number, max: number) => fc.double({ min, max, noNaN: true })
  const spot = fc.record({ xPx: number(0, 1280), yPx: number(0, 740) })
  const acts = fc.oneof(
    fc.tuple(number(-5000, 5000), number(-5000, 5000)).map(
      ([right, down]) =>
        (s: Steering) =>
          s.push(right, down),
    ),
    fc.tuple(number(-9, 9), number(-9, 9)).map(
      ([right, down]) =>
        (s: Steering) =>
          s.glide(right, down),
    ),
    fc.tuple(number(0.01, 100), spot).map(
      ([factor, at]) =>
        (s: Steering) =>
          s.pinch(factor, at),
    ),
    fc.tuple(number(0.01, 100), spot).map(
      ([factor, at]) =>
        (s: Steering) =>
          s.approach(factor, at, SMOOTH),
    ),
    spot.map((at) => (s: Steering) => s.step('in', at, SMOOTH)),
    spot.map((at) => (s: Steering) => s.step('out', at, SUDDEN)),
    fc.constant((s: Steering) => s.show({ x: 1e9, y: -1e9, zoom: 1e9 }, SMOOTH)),
    fc.constant((s: Steering) => s.bringIntoSight({ x: 150, y: 150 })),
  )
  fc.assert(
    fc.property(fc.array(acts, { maxLength: 12 }), (doings) => {
      const { steering, clock, rest } = steeringOf()
      for (const act of doings) {
        act(steering)
        clock.nowMs += 16
        steering.goOn(clock.nowMs)
        expect(steering.view).toEqual(allowedView(steering.view!, SCREEN, WORLD))
      }
      const end = rest()!
      expect(end).toEqual(allowedView(end, SCREEN, WORLD))
    }),
  )
})
