import type { Coord } from '@landpass/client/grid'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/support/run/property-seed.ts'
import { geometryJson, outlinesOf, type Polygon, type Ring } from './outlines.ts'

const text = (ring: Ring) => ring.map(({ x, y }) => `${x},${y}`).join(' ')

/** The parcels of a drawing, the lowest line at y 0. */
function drawn(...lines: readonly string[]): Coord[] {
  return lines
    .toReversed()
    .flatMap((line, y) => [...line].flatMap((sign, x) => (sign === '#' ? { x, y } : [])))
}

/** Twice the signed area. */
function area(ring: Ring): number {
  return ring.slice(1).reduce((sum, { x, y }, i) => sum + ring[i]!.x * y - x * ring[i]!.y, 0)
}

/** Whether the middle of a parcel lies within a ring: an odd number of sides lies east of it. */
function isWithin({ x, y }: Coord, ring: Ring): boolean {
  const east = ring.slice(1).filter((to, i) => {
    const from = ring[i]!
    return from.x === to.x && from.x > x && Math.min(from.y, to.y) <= y && Math.max(from.y, to.y) > y
  })
  return east.length % 2 === 1
}

function covers([outer, ...holes]: Polygon, parcel: Coord): boolean {
  return isWithin(parcel, outer!) && !holes.some((hole) => isWithin(parcel, hole))
}

describe('outlines', () => {
  test('a rectangle has four corners, counter-clockwise and closed', () => {
    expect(outlinesOf(drawn('##', '##')).map((rings) => rings.map(text))).toEqual([['0,0 2,0 2,2 0,2 0,0']])
  })

  test('a ring of parcels has a hole, clockwise', () => {
    const [rings] = outlinesOf(drawn('###', '#.#', '###'))

    expect(rings!.map((ring) => ring.length)).toEqual([5, 5])
    expect(rings!.map((ring) => Math.sign(area(ring)))).toEqual([1, -1])
  })

  test('a hole that touches the outside at a corner is still a hole', () => {
    const [rings, ...others] = outlinesOf(drawn('##.', '#.#', '###'))

    expect([rings!.length, others]).toEqual([2, []])
  })

  test('parcels that touch at a corner alone are two polygons', () => {
    expect(outlinesOf(drawn('#.', '.#')).length).toBe(2)
  })

  test('the polygons of any parcels cover these and no others, and no ring passes a corner twice', () => {
    const place = fc.record({ x: fc.integer({ min: -3, max: 3 }), y: fc.integer({ min: -3, max: 3 }) })
    const parcels = fc.uniqueArray(place, {
      minLength: 1,
      maxLength: 40,
      selector: ({ x, y }) => `${x},${y}`,
    })
    fc.assert(
      fc.property(parcels, (some) => {
        const polygons = outlinesOf(some)

        for (const [i, ring] of polygons.flat().entries()) {
          const corners = ring.slice(1).map(({ x, y }) => `${x},${y}`)
          expect(ring[0]).toEqual(ring.at(-1))
          expect(new Set(corners).size, `ring ${i}`).toBe(corners.length)
        }
        for (const [outer, ...holes] of polygons) {
          expect(area(outer!)).toBeGreaterThan(0)
          for (const hole of holes) expect(area(hole)).toBeLessThan(0)
        }
        for (let x = -4; x <= 4; x++) {
          for (let y = -4; y <= 4; y++) {
            const isMeant = some.some((one) => one.x === x && one.y === y)
            const covering = polygons.filter((polygon) => covers(polygon, { x, y }))
            expect(covering.length, `${x},${y}`).toBe(Number(isMeant))
          }
        }
      }),
      { numRuns: runs(200) },
    )
  })
})

test('the geometry of one parcel is that of its outline', () => {
  const lines = { lonAt: String, latAt: (y: number) => String(y * 10) }
  const ring = outlinesOf([{ x: -3, y: 7 }])[0]![0]!.map(({ x, y }) => [x, y * 10])

  expect(JSON.parse(geometryJson([{ x: -3, y: 7 }], lines))).toEqual({ type: 'Polygon', coordinates: [ring] })
})
