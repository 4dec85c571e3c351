import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { areaAround, centredOn, countParcels, type Frame, fittedTo, outsideOf } from './frame.ts'

const frame = fc.record({
  widthPx: fc.integer({ min: 32, max: 2048 }),
  heightPx: fc.integer({ min: 32, max: 2048 }),
  sizePx: fc.integer({ min: 1, max: 40 }),
})
const place = fc.record({ x: fc.integer({ min: -150, max: 150 }), y: fc.integer({ min: -150, max: 150 }) })
const places = fc.array(place, { minLength: 1, maxLength: 20 })

/** Where the edges of an area lie in an image, in pixels from its west and its north edge. */
function extentOf(area: ReturnType<typeof areaAround>, frame: Frame) {
  const { originXPx, originYPx } = centredOn(area, frame)
  const { sizePx } = frame
  return {
    west: originXPx + area.minX * sizePx,
    east: originXPx + (area.maxX + 1) * sizePx,
    north: originYPx - area.maxY * sizePx,
    south: originYPx - (area.minY - 1) * sizePx,
  }
}

describe('the number of parcels of an image', () => {
  test('is 42,436 for the documented example', () => {
    expect(countParcels({ widthPx: 2048, heightPx: 2048, sizePx: 10 })).toBe(42_436)
  })

  test('is even in both directions, and never less than the number of visible parcels', () => {
    fc.assert(
      fc.property(frame, ({ widthPx, heightPx, sizePx }) => {
        const counted = countParcels({ widthPx, heightPx, sizePx })
        const seen = (px: number) => Math.ceil((px + sizePx - 1) / sizePx)
        expect(counted % 4).toBe(0)
        expect(counted).toBeGreaterThanOrEqual(seen(widthPx) * seen(heightPx))
        expect(counted).toBeLessThanOrEqual((widthPx / sizePx + 3) * (heightPx / sizePx + 3))
      }),
    )
  })
})

describe('centring', () => {
  test('the space on the west and north of a parcel is half of what is free, rounded down', () => {
    fc.assert(
      fc.property(frame, place, (frame, { x, y }) => {
        const { west, north } = extentOf({ minX: x, minY: y, maxX: x, maxY: y }, frame)
        expect(west).toBe(Math.floor((frame.widthPx - frame.sizePx) / 2))
        expect(north).toBe(Math.floor((frame.heightPx - frame.sizePx) / 2))
      }),
    )
  })

  test('an area has the same space on both sides, or one pixel more in the east and the south', () => {
    fc.assert(
      fc.property(frame, places, (frame, places) => {
        const { west, east, north, south } = extentOf(areaAround(places), frame)
        expect([0, 1]).toContain(frame.widthPx - east - west)
        expect([0, 1]).toContain(frame.heightPx - south - north)
      }),
    )
  })
})

describe('fitting', () => {
  test('zooms out only as far as needed, and never in', () => {
    fc.assert(
      fc.property(frame, places, (frame, places) => {
        const area = areaAround(places)
        const fits = (sizePx: number) =>
          (area.maxX - area.minX + 1) * sizePx <= frame.widthPx &&
          (area.maxY - area.minY + 1) * sizePx <= frame.heightPx
        const { sizePx, ...rest } = fittedTo(area, frame)
        expect(rest).toEqual({ widthPx: frame.widthPx, heightPx: frame.heightPx })
        expect(sizePx).toBeGreaterThanOrEqual(1)
        expect(sizePx).toBeLessThanOrEqual(frame.sizePx)
        if (sizePx > 1) expect(fits(sizePx)).toBe(true)
        if (sizePx < frame.sizePx) expect(fits(sizePx + 1)).toBe(false)
      }),
    )
  })

  test('uses at least one pixel per parcel', () => {
    const area = { minX: -150, minY: 0, maxX: 150, maxY: 0 }
    expect(fittedTo(area, { widthPx: 32, heightPx: 32, sizePx: 10 }).sizePx).toBe(1)
    expect(fittedTo(area, { widthPx: 301, heightPx: 32, sizePx: 10 }).sizePx).toBe(1)
    expect(fittedTo(area, { widthPx: 602, heightPx: 32, sizePx: 10 }).sizePx).toBe(2)
  })
})

test('an image of the ground outside shows no parcel and no gap before a parcel', () => {
  fc.assert(
    fc.property(frame, places, (frame, places) => {
      const world = areaAround(places)
      const { originXPx } = outsideOf(world, frame)
      expect(originXPx + world.minX * frame.sizePx).toBeGreaterThan(frame.widthPx)
    }),
  )
})

test('the area around coordinates contains all of them, and has one at each of its edges', () => {
  fc.assert(
    fc.property(places, (places) => {
      const { minX, minY, maxX, maxY } = areaAround(places)
      for (const [min, max, of] of [
        [minX, maxX, places.map(({ x }) => x)],
        [minY, maxY, places.map(({ y }) => y)],
      ] as const) {
        expect(of.every((one) => min <= one && one <= max)).toBe(true)
        expect(of).toContain(min)
        expect(of).toContain(max)
      }
    }),
  )
})
