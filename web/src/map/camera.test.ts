import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  allowedView,
  allowedZoom,
  between,
  nextZoom,
  panned,
  parcelOf,
  placeAt,
  spotOf,
  wholeWorld,
  withInSight,
  zoomedAbout,
} from './camera.ts'
import type { View } from './map-types.ts'

const WORLD = { minX: -150, minY: -150, maxX: 150, maxY: 150 }
const SCREEN = { widthPx: 1280, heightPx: 740 }

const number = (min: number, max: number) => fc.double({ min, max, noNaN: true })
const views = fc.record({ x: number(-150, 150), y: number(-150, 150), zoom: number(0.5, 96) })
const screens = fc.record({ widthPx: number(200, 4000), heightPx: number(200, 3000) })
const spots = fc.record({ xPx: number(0, 4000), yPx: number(0, 3000) })

test('what is at a spot is at that spot, in every view', () => {
  fc.assert(
    fc.property(views, screens, spots, (view, size, spot) => {
      const back = spotOf(view, size, placeAt(view, size, spot))
      expect(back.xPx).toBeCloseTo(spot.xPx, 6)
      expect(back.yPx).toBeCloseTo(spot.yPx, 6)
    }),
  )
})

test('a parcel reaches half a parcel to each side of its place, and north is up', () => {
  const view = { x: 10, y: 20, zoom: 40 }
  const at = (xPx: number, yPx: number) => parcelOf(placeAt(view, SCREEN, { xPx, yPx }))

  expect(at(640, 370)).toEqual({ x: 10, y: 20 })
  expect(at(621, 351)).toEqual({ x: 10, y: 20 })
  expect(at(659, 389)).toEqual({ x: 10, y: 20 })
  expect(at(661, 370)).toEqual({ x: 11, y: 20 })
  expect(at(640, 349)).toEqual({ x: 10, y: 21 })
})

test('zooming leaves the place under the pointer where it is', () => {
  fc.assert(
    fc.property(views, screens, spots, number(0.5, 96), (view, size, spot, zoom) => {
      const before = placeAt(view, size, spot)
      const after = placeAt(zoomedAbout(view, size, spot, zoom), size, spot)
      expect(after.x).toBeCloseTo(before.x, 6)
      expect(after.y).toBeCloseTo(before.y, 6)
    }),
  )
})

test('dragging moves every place by as many pixels', () => {
  const view = { x: 3, y: 4, zoom: 10 }

  expect(spotOf(panned(view, 25, -15), SCREEN, { x: 0, y: 0 })).toEqual({
    xPx: spotOf(view, SCREEN, { x: 0, y: 0 }).xPx + 25,
    yPx: spotOf(view, SCREEN, { x: 0, y: 0 }).yPx - 15,
  })
})

test('the whole world is on the screen, in its middle', () => {
  fc.assert(
    fc.property(screens, (size) => {
      const view = wholeWorld(size, WORLD)
      const northWest = spotOf(view, size, { x: -150.5, y: 150.5 })
      const southEast = spotOf(view, size, { x: 150.5, y: -150.5 })
      expect(northWest.xPx).toBeGreaterThan(15)
      expect(northWest.yPx).toBeGreaterThan(15)
      expect(northWest.xPx + southEast.xPx).toBeCloseTo(size.widthPx, 6)
      expect(northWest.yPx + southEast.yPx).toBeCloseTo(size.heightPx, 6)
    }),
  )
})

test('however far the map is dragged, part of the world stays on the screen', () => {
  const anywhere = fc.record({ x: number(-1e6, 1e6), y: number(-1e6, 1e6), zoom: number(1e-6, 1e6) })
  fc.assert(
    fc.property(anywhere, screens, (wanted, size) => {
      const view = allowedView(wanted, size, WORLD)
      const northWest = spotOf(view, size, { x: -150.5, y: 150.5 })
      const southEast = spotOf(view, size, { x: 150.5, y: -150.5 })
      expect(northWest.xPx).toBeLessThan(size.widthPx * 0.86)
      expect(northWest.yPx).toBeLessThan(size.heightPx * 0.86)
      expect(southEast.xPx).toBeGreaterThan(size.widthPx * 0.14)
      expect(southEast.yPx).toBeGreaterThan(size.heightPx * 0.14)
      expect(view.zoom).toBe(allowedZoom(wanted.zoom, size, WORLD))
      expect(allowedView(view, size, WORLD)).toBe(view)
    }),
  )
})

test('a step doubles or halves the zoom, to whole pixels of the screen where there are some', () => {
  expect(nextZoom(9, 'in', 1)).toBe(18)
  expect(nextZoom(4.7, 'in', 1)).toBe(9)
  expect(nextZoom(4.7, 'in', 2)).toBe(9.5)
  expect(nextZoom(4.7, 'out', 1)).toBe(2.35)
})

test('a parcel near the edge is brought so far in, and one in sight moves nothing', () => {
  const view = { x: 0, y: 0, zoom: 10 }

  expect(withInSight(view, SCREEN, { x: 5, y: 5 }, 72)).toBe(view)
  const far = withInSight(view, SCREEN, { x: 100, y: 0 }, 72)
  expect(spotOf(far, SCREEN, { x: 100, y: 0 })).toEqual({ xPx: 1280 - 72, yPx: 370 })
})

test('a flight begins and ends where it should, and zooms about one spot of the screen', () => {
  fc.assert(
    fc.property(views, views, number(0, 1), (from, to, t) => {
      const close = (a: View, b: View) => {
        expect(a.x).toBeCloseTo(b.x, 4)
        expect(a.y).toBeCloseTo(b.y, 4)
        expect(a.zoom).toBeCloseTo(b.zoom, 6)
      }
      close(between(from, to, 0), from)
      close(between(from, to, 1), to)
      const { zoom } = between(from, to, t)
      expect(zoom).toBeGreaterThanOrEqual(Math.min(from.zoom, to.zoom) * 0.999)
      expect(zoom).toBeLessThanOrEqual(Math.max(from.zoom, to.zoom) * 1.001)
    }),
  )
  const from = { x: 0, y: 0, zoom: 4 }
  const spot = { xPx: 900, yPx: 200 }
  const place = placeAt(from, SCREEN, spot)
  const halfway = between(from, zoomedAbout(from, SCREEN, spot, 40), 0.5)
  expect(placeAt(halfway, SCREEN, spot).x).toBeCloseTo(place.x, 6)
  expect(placeAt(halfway, SCREEN, spot).y).toBeCloseTo(place.y, 6)
})
