import { parseWorld } from '@landpass/client/grid'
import { expect, test } from 'vitest'
import { tileJson } from './tile-json.ts'

const plain = { theme: 'dark', showsOffers: false } as const

test('the default world, field by field', () => {
  expect(
    tileJson(parseWorld('-150,-150,150,150')!, { base: 'https://land.example/v1', style: plain }),
  ).toEqual({
    tilejson: '3.0.0',
    name: 'Landpass',
    version: '1.0.0',
    scheme: 'xyz',
    tiles: ['https://land.example/v1/tiles/{z}/{x}/{y}.png'],
    tileSize: 256,
    vector_layers: [],
    minzoom: 0,
    maxzoom: 7,
    bounds: [-105.46875, -71.965388, 106.171875, 72.181804],
    center: [0.351563, 0.35156, 2],
  })
})

test('the addresses of tiles contain the requested style, without its defaults', () => {
  const address = (style: Parameters<typeof tileJson>[1]['style']) =>
    tileJson(parseWorld('0,0,9,9')!, { base: '', style }).tiles[0]
  expect(address(plain)).toBe('/tiles/{z}/{x}/{y}.png')
  expect(address({ theme: 'light', showsOffers: false })).toBe('/tiles/{z}/{x}/{y}.png?theme=light')
  expect(address({ theme: 'dark', showsOffers: true })).toBe('/tiles/{z}/{x}/{y}.png?publications=true')
  expect(address({ theme: 'light', showsOffers: true })).toBe(
    '/tiles/{z}/{x}/{y}.png?theme=light&publications=true',
  )
})

test('for any world, the centre lies within the bounds and the zooms', () => {
  for (const text of [
    '0,0,0,0',
    '-2,-2,2,2',
    '1000,1000,1010,1010',
    '-150,-150,150,150;62,151,162,158',
    '0,0,9999,9',
  ]) {
    const { bounds, center, minzoom, maxzoom } = tileJson(parseWorld(text)!, { base: '', style: plain })
    const [west, south, east, north] = bounds
    const [lon, lat, zoom] = center
    expect(west! < lon! && lon! < east!, text).toBe(true)
    expect(south! < lat! && lat! < north!, text).toBe(true)
    expect(minzoom <= zoom! && zoom! <= maxzoom, text).toBe(true)
  }
})
