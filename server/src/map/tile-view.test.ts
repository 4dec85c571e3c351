import { maxZoom, tileAt, tileCorner, tileSide } from '@landpass/client/grid'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tileView } from './tile-view.ts'

test('tiles of the usual world have half a pixel per parcel at zoom 0, and 64 at the last zoom', () => {
  const common = { half: 256, theme: 'dark' } as const
  expect(tileView({ ...common, tile: { z: 0, x: 0, y: 0 }, scale: 1 })).toMatchObject({
    widthPx: 256,
    heightPx: 256,
    sizePx: 0.5,
    originXPx: 128,
  })
  expect(tileView({ ...common, tile: { z: 1, x: 0, y: 0 }, scale: 1 })).toEqual({
    widthPx: 256,
    heightPx: 256,
    sizePx: 1,
    originXPx: 256,
    originYPx: 255,
    selected: [],
    theme: 'dark',
  })
  expect(tileView({ ...common, tile: { z: 7, x: 64, y: 63 }, scale: 2 })).toMatchObject({
    widthPx: 512,
    sizePx: 128,
    originXPx: 0,
    originYPx: 384,
  })
})

test('a parcel is drawn where the projection puts it in its tile, at both scales', () => {
  const parcel = fc.integer({ min: 0, max: 12 }).chain((power) =>
    fc.record({
      half: fc.constant(2 ** power),
      x: fc.integer({ min: -(2 ** power), max: 2 ** power - 1 }),
      y: fc.integer({ min: -(2 ** power), max: 2 ** power - 1 }),
      z: fc.integer({ min: 0, max: maxZoom(2 ** power) }),
      scale: fc.constantFrom(1, 2),
    }),
  )
  fc.assert(
    fc.property(parcel, ({ half, x, y, z, scale }) => {
      const tile = tileAt({ x, y }, z, half)
      const view = tileView({ tile, half, scale, theme: 'light' })
      const { widthPx, sizePx, originXPx, originYPx } = view
      const [west, north] = tileCorner(tile, half)
      const pxPerParcel = (256 * scale) / tileSide(z, half)
      expect([widthPx, view.heightPx, sizePx]).toEqual([256 * scale, 256 * scale, pxPerParcel])
      expect(originXPx + x * sizePx).toBe((x - west) * pxPerParcel)
      expect(originYPx - y * sizePx).toBe((north - 1 - y) * pxPerParcel)
    }),
  )
})
