import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { View } from '../map/map-types.ts'
import {
  type Box,
  type Frame,
  findBox,
  fittingView,
  nearerView,
  openedView,
  uncoveredView,
} from './fitting.ts'

const BARE: Frame = { width: 1000, height: 800, covered: { left: 0, right: 0, top: 0, bottom: 0 } }
const PANELS: Frame = { width: 1000, height: 800, covered: { left: 200, right: 300, top: 60, bottom: 40 } }

test('the box around cells is that of their places', () => {
  // Columns of five, from 2 in the north to -2 in the south
  const bounds = { minX: -2, minY: -2, maxX: 2, maxY: 2 }

  expect(findBox(Uint32Array.of(0), bounds)).toEqual({ west: -2, east: -2, south: 2, north: 2 })
  expect(findBox(Uint32Array.of(3, 11), bounds)).toEqual({ west: -2, east: 0, south: -1, north: 1 })
  expect(findBox(new Uint32Array(0), bounds)).toBeUndefined()
})

describe('a view that fits', () => {
  test('is no nearer than a single parcel is looked at', () => {
    const view = fittingView({ west: 5, east: 5, south: -7, north: -7 }, BARE)

    expect(view).toEqual({ x: 5, y: -7, zoom: 18 })
  })

  test('has all of the box where nothing covers it', () => {
    fc.assert(
      fc.property(boxes(), (box) => {
        const corners = cornersOnScreen(box, fittingView(box, PANELS), PANELS)

        expect(corners.left).toBeGreaterThanOrEqual(200)
        expect(corners.right).toBeLessThanOrEqual(700)
        expect(corners.top).toBeGreaterThanOrEqual(60)
        expect(corners.bottom).toBeLessThanOrEqual(760)
      }),
    )
  })
})

describe('the view of what was opened from a list or by search', () => {
  const PHONE: Frame = { width: 400, height: 800, covered: { left: 0, right: 0, top: 0, bottom: 400 } }
  const parcel: Box = { west: 0, east: 0, south: 0, north: 0 }

  test('moves a parcel that is half under a panel to the middle of the free part', () => {
    expect(openedView({ x: 0, y: 0, zoom: 20 }, parcel, PHONE)).toEqual({ x: 0, y: -10, zoom: 20 })
  })

  test('is unchanged where all of it is free already, however near', () => {
    const view = { x: 0, y: -3, zoom: 60 }

    expect(openedView(view, parcel, PHONE)).toBe(view)
  })

  test('has all of any box in the free part, and never comes nearer than before', () => {
    fc.assert(
      fc.property(boxes(), fc.double({ min: 1, max: 100, noNaN: true }), (box, zoom) => {
        const view = openedView({ x: 0, y: 0, zoom }, box, PANELS)
        const corners = cornersOnScreen(box, view, PANELS)

        expect(view.zoom).toBeLessThanOrEqual(zoom)
        expect(corners.left).toBeGreaterThanOrEqual(200)
        expect(corners.right).toBeLessThanOrEqual(700)
        expect(corners.top).toBeGreaterThanOrEqual(60)
        expect(corners.bottom).toBeLessThanOrEqual(760)
      }),
    )
  })
})

describe('a view that uncovers', () => {
  const view: View = { x: 0, y: 0, zoom: 10 }

  test('is the same where nothing is covered', () => {
    expect(uncoveredView(view, { west: 0, east: 0, south: 0, north: 0 }, PANELS)).toBe(view)
  })

  test('moves what lies below a panel to the middle of the rest, as near as before', () => {
    // 40 parcels to the east are 400 pixels: below the panel on the right
    const moved = uncoveredView(view, { west: 40, east: 40, south: 0, north: 0 }, PANELS)

    expect(moved.zoom).toBe(10)
    const { left, right } = cornersOnScreen({ west: 40, east: 40, south: 0, north: 0 }, moved, PANELS)
    expect((left + right) / 2).toBe(450)
  })
})

/** The edges of a box, in CSS pixels from the upper left corner of the map. */
function cornersOnScreen(box: Box, { x, y, zoom }: View, { width, height }: Frame) {
  return {
    left: width / 2 + (box.west - 0.5 - x) * zoom,
    right: width / 2 + (box.east + 0.5 - x) * zoom,
    top: height / 2 - (box.north + 0.5 - y) * zoom,
    bottom: height / 2 - (box.south - 0.5 - y) * zoom,
  }
}

function boxes(): fc.Arbitrary<Box> {
  const place = fc.integer({ min: -150, max: 150 })
  const size = fc.nat({ max: 300 })
  return fc.tuple(place, place, size, size).map(([west, south, columns, rows]) => ({
    west,
    east: west + columns,
    south,
    north: south + rows,
  }))
}

describe('land that new filters keep', () => {
  const street: Box = { west: 40, east: 49, south: 10, north: 10 }

  test('is approached from far away, and looked for where none of it is in sight', () => {
    const fitting = fittingView(street, PANELS)

    expect(nearerView({ x: 0, y: 0, zoom: 3 }, street, PANELS)).toEqual(fitting)
    expect(nearerView({ x: -40, y: 10, zoom: 18 }, street, PANELS)).toEqual(fitting)
  })

  test('leaves the map where it is when some of it is seen well', () => {
    const view = { x: 45, y: 10, zoom: 60 }

    expect(nearerView(view, street, PANELS)).toBe(view)
  })
})
