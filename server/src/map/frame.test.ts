import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { areaAround, centredOn, countParcels, type Frame, fittedTo, outsideOf } from './frame.ts'
import { edgePx } from './view.ts'

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

  test('a point between parcels moves the image by a part of a parcel, to a whole pixel', () => {
    const around = (x: number, y: number, sizePx: number) =>
      centredOn({ minX: x, minY: y, maxX: x, maxY: y }, { widthPx: 500, heightPx: 500, sizePx })

    expect(around(0.5, 0, 10)).toEqual({ originXPx: 240, originYPx: 245 })
    expect(around(0, -0.5, 11)).toEqual({ originXPx: 244, originYPx: 239 })
    for (let tenths = -100; tenths <= 100; tenths++)
      expect(around(tenths / 10, 0, 10).originXPx, String(tenths)).toBe(245 - tenths)
  })

  test('satellite chunks: with 20 parcels on 512 pixels, each parcel begins at its fraction of the image', () => {
    for (const x of [-160, -20, 0, 140]) {
      const frame = { widthPx: 512, heightPx: 512, sizePx: 25.6 }
      const middle = { minX: x + 9.5, minY: 9.5, maxX: x + 9.5, maxY: 9.5 }
      const { originXPx, originYPx } = centredOn(middle, frame)
      const edges = [0, 1, 2, 19, 20].map((n) => edgePx(originXPx, x + n, 25.6))
      expect(edges).toEqual([0, 26, 51, 486, 512])
      expect([edgePx(originYPx, -19, 25.6), edgePx(originYPx, 1, 25.6)]).toEqual([0, 512])
    }
  })
})

describe('fitting', () => {
  /** Where the squares of an area lie that share pixels, as {@link overviewOf} draws them. */
  const squaresOf = (area: ReturnType<typeof areaAround>, frame: Frame) => {
    const { originXPx, originYPx } = centredOn(area, frame)
    const parcels = 1 / frame.sizePx
    return {
      west: originXPx + Math.floor(area.minX / parcels),
      east: originXPx + Math.floor(area.maxX / parcels),
      north: originYPx - Math.ceil(area.maxY / parcels),
      south: originYPx - Math.ceil(area.minY / parcels),
    }
  }

  test('zooms out only as far as needed, and never in', () => {
    fc.assert(
      fc.property(frame, places, (frame, places) => {
        const area = areaAround(places)
        const fits = (sizePx: number) =>
          (area.maxX - area.minX + 1) * sizePx <= frame.widthPx &&
          (area.maxY - area.minY + 1) * sizePx <= frame.heightPx
        const { sizePx, ...rest } = fittedTo(area, frame)
        expect(rest).toEqual({ widthPx: frame.widthPx, heightPx: frame.heightPx })
        expect(sizePx).toBeLessThanOrEqual(frame.sizePx)
        expect(fits(sizePx)).toBe(true)
        if (sizePx >= 1 && sizePx < frame.sizePx) expect(fits(sizePx + 1)).toBe(false)
        if (sizePx < 1) expect(fits(1)).toBe(false)
      }),
    )
  })

  test('below a pixel, parcels share one: by halves, and all of them are in the image', () => {
    const area = { minX: -150, minY: 0, maxX: 150, maxY: 0 }
    const sizeIn = (widthPx: number) => fittedTo(area, { widthPx, heightPx: 32, sizePx: 10 }).sizePx
    expect([602, 301, 300, 153, 152, 32].map(sizeIn)).toEqual([2, 1, 1 / 2, 1 / 2, 1 / 4, 1 / 16])

    const far = fc.record({ x: fc.integer({ min: -900, max: 900 }), y: fc.integer({ min: -900, max: 900 }) })
    fc.assert(
      fc.property(frame, fc.array(far, { minLength: 2, maxLength: 4 }), (frame, places) => {
        const area = areaAround(places)
        const fitted = fittedTo(area, frame)
        if (fitted.sizePx >= 1) return
        const { west, east, north, south } = squaresOf(area, fitted)
        expect(Math.min(west, north)).toBeGreaterThanOrEqual(0)
        expect(east).toBeLessThan(frame.widthPx)
        expect(south).toBeLessThan(frame.heightPx)
      }),
    )
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
