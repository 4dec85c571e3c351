import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lonLatOf, maxZoom, pointOf, squareHalf, TILE_PX, tileAt, tileCorner, tileSide } from './mercator.ts'

const half = fc.integer({ min: 0, max: 20 }).map((power) => 2 ** power)
/** The square of a world, a parcel in it and a zoom. */
const parcelOfSquare = half.chain((half) =>
  fc.record({
    half: fc.constant(half),
    x: fc.integer({ min: -half, max: half - 1 }),
    y: fc.integer({ min: -half, max: half - 1 }),
    z: fc.integer({ min: 0, max: maxZoom(half) }),
  }),
)

describe('the square around the world', () => {
  test('has its examples', () => {
    expect(squareHalf({ minX: -150, minY: -150, maxX: 150, maxY: 150 })).toBe(256)
    expect(squareHalf({ minX: -2, minY: -2, maxX: 2, maxY: 2 })).toBe(4)
    expect(squareHalf({ minX: 0, minY: 0, maxX: 0, maxY: 0 })).toBe(1)
    expect(maxZoom(256)).toBe(7)
  })

  test('contains every parcel, and a square of half the size does not', () => {
    const side = fc.integer({ min: -999_999, max: 999_999 })
    fc.assert(
      fc.property(side, side, side, side, (a, b, c, d) => {
        const bounds = {
          minX: Math.min(a, b),
          maxX: Math.max(a, b),
          minY: Math.min(c, d),
          maxY: Math.max(c, d),
        }
        const reaches = (half: number) =>
          bounds.minX >= -half && bounds.minY >= -half && bounds.maxX < half && bounds.maxY < half
        const half = squareHalf(bounds)
        expect(Number.isInteger(Math.log2(half))).toBe(true)
        expect(reaches(half)).toBe(true)
        if (half > 1) expect(reaches(half / 2)).toBe(false)
      }),
    )
  })

  test('has a highest zoom at which a parcel has 64 pixels', () => {
    fc.assert(
      fc.property(half, (half) => {
        const parcelPx = TILE_PX / tileSide(maxZoom(half), half)
        expect(Number.isInteger(maxZoom(half))).toBe(true)
        expect(parcelPx).toBe(half === 1 ? 128 : 64)
      }),
    )
  })
})

describe('longitude and latitude', () => {
  test('have their examples', () => {
    expect(lonLatOf(0, 0, 256)).toEqual([0, 0])
    expect(lonLatOf(128, 0, 256)).toEqual([90, 0])
    const [west, north] = lonLatOf(-256, 256, 256)
    expect(west).toBe(-180)
    expect(north).toBeCloseTo(85.051_128_78, 8) // where Web Mercator ends
    expect(pointOf(90, 0, 256)).toEqual([128, 0])
  })

  test('are converted back to their point', () => {
    const within = fc.double({ min: -1, max: 1, noNaN: true })
    fc.assert(
      fc.property(half, within, within, (half, a, b) => {
        const [x, y] = pointOf(...lonLatOf(a * half, b * half, half), half)
        expect(Math.abs(x - a * half)).toBeLessThan(half * 1e-12)
        expect(Math.abs(y - b * half)).toBeLessThan(half * 1e-12)
      }),
    )
  })

  test('grow to the east and to the north', () => {
    fc.assert(
      fc.property(parcelOfSquare, ({ half, x, y }) => {
        const [west, south] = lonLatOf(x, y, half)
        const [east, north] = lonLatOf(x + 1, y + 1, half)
        expect(east).toBeGreaterThan(west)
        expect(north).toBeGreaterThan(south)
      }),
    )
  })
})

describe('tiles', () => {
  test('have their examples', () => {
    expect(tileCorner({ z: 0, x: 0, y: 0 }, 256)).toEqual([-256, 256])
    expect(tileCorner({ z: 1, x: 1, y: 0 }, 256)).toEqual([0, 256])
    expect(tileAt({ x: 0, y: 0 }, 1, 256)).toEqual({ z: 1, x: 1, y: 0 })
    expect(tileAt({ x: -1, y: -1 }, 1, 256)).toEqual({ z: 1, x: 0, y: 1 })
  })

  test('the tile of a parcel contains all of it, and is one of the 4^z tiles', () => {
    fc.assert(
      fc.property(parcelOfSquare, ({ half, x, y, z }) => {
        const tile = tileAt({ x, y }, z, half)
        const [west, north] = tileCorner(tile, half)
        const side = tileSide(z, half)
        expect([tile.x, tile.y].every((at) => at >= 0 && at < 2 ** z)).toBe(true)
        expect(west <= x && x + 1 <= west + side).toBe(true)
        expect(north - side <= y && y + 1 <= north).toBe(true)
      }),
    )
  })

  test('the corner of a tile is a corner of parcels, and of the tile itself', () => {
    fc.assert(
      fc.property(parcelOfSquare, ({ half, x, y, z }) => {
        const tile = tileAt({ x, y }, z, half)
        const [west, north] = tileCorner(tile, half)
        expect([west, north].every(Number.isInteger)).toBe(true)
        expect(tileAt({ x: west, y: north - 1 }, z, half)).toEqual(tile)
      }),
    )
  })

  test('are those of the Web Mercator formula of map viewers', () => {
    fc.assert(
      fc.property(parcelOfSquare, ({ half, x, y, z }) => {
        const [lon, lat] = lonLatOf(x + 0.5, y + 0.5, half)
        const angle = (lat / 180) * Math.PI
        // the formula of the slippy map, as every viewer has it
        const column = Math.floor(((lon + 180) / 360) * 2 ** z)
        const row = Math.floor(((1 - Math.log(Math.tan(angle) + 1 / Math.cos(angle)) / Math.PI) / 2) * 2 ** z)
        expect(tileAt({ x, y }, z, half)).toEqual({ z, x: column, y: row })
      }),
    )
  })
})
