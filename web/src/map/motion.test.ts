import { expect, test } from 'vitest'
import { placeAt } from './camera.ts'
import type { View } from './map-types.ts'
import { FLIGHT_MS, type Motion, moved } from './motion.ts'

const SCREEN = { widthPx: 1280, heightPx: 740 }
const FRAME_MS = 16

/** Runs a motion to its end. */
function watched(motion: Motion, from: View): View[] {
  const views: View[] = []
  let left: Motion | undefined = motion
  let view = from
  for (let nowMs = FRAME_MS; left && views.length < 1000; nowMs += FRAME_MS) {
    const next = moved(left, view, SCREEN, { nowMs, passedMs: FRAME_MS })
    view = next.view
    left = next.motion
    views.push(view)
  }
  expect(left, 'it comes to an end').toBeUndefined()
  return views
}

test('a flight is over in time, exactly where it was to go', () => {
  const from = { x: 0, y: 0, zoom: 4 }
  const to = { x: 100, y: -50, zoom: 30 }

  const views = watched({ kind: 'flight', from, to, startMs: 0 }, from)

  expect(views.at(-1)).toBe(to)
  expect(views.length * FRAME_MS).toBeLessThan(FLIGHT_MS + 2 * FRAME_MS)
  expect(FLIGHT_MS).toBeLessThanOrEqual(400)
})

test('a glide gets slower until it rests', () => {
  const views = watched({ kind: 'glide', rightPxPerMs: -1, downPxPerMs: 0 }, { x: 0, y: 0, zoom: 10 })

  const steps = views.slice(1).map(({ x }, i) => x - views[i]!.x)
  expect(steps.every((step, i) => step > 0 && (i === 0 || step < steps[i - 1]!))).toBe(true)
  expect(views.at(-1)!.x).toBeGreaterThan(20)
})

test('an approach ends at its zoom, and leaves the place under the pointer where it is', () => {
  const from = { x: 7, y: 8, zoom: 4 }
  const spot = { xPx: 900, yPx: 100 }
  const place = placeAt(from, SCREEN, spot)

  const views = watched({ kind: 'approach', spot, zoom: 12 }, from)

  expect(views.at(-1)!.zoom).toBe(12)
  for (const view of views) {
    expect(placeAt(view, SCREEN, spot).x).toBeCloseTo(place.x, 6)
    expect(placeAt(view, SCREEN, spot).y).toBeCloseTo(place.y, 6)
  }
})
