import { expect, test } from 'vitest'
import { parsePermalink } from '../address-bar/permalink.ts'
import type { Selection } from '../state/explore-state.ts'
import { assetLink, imagePath } from './asset-links.ts'

const PARCEL: Selection = { type: 'parcel', x: -12, y: 34 }
const ESTATE: Selection = { type: 'estate', id: '7' }

test.each([PARCEL, ESTATE])('the link to $type opens the map with it', (selection) => {
  const { origin, pathname, search } = new URL(assetLink('https://land.example', selection))

  expect(origin + pathname).toBe('https://land.example/')
  expect(parsePermalink(search)).toMatchObject({ selection })
})

test('an image says its size and its colours, and no id can say anything else', () => {
  const size = { widthPx: 640, heightPx: 320 }

  expect(imagePath(PARCEL, size, 'dark')).toBe(
    '/v1/parcels/-12/34/map.png?width=640&height=320&size=20&theme=dark',
  )
  expect(imagePath({ type: 'estate', id: '7/../x?y' }, size, 'light')).toBe(
    '/v1/estates/7%2F..%2Fx%3Fy/map.png?width=640&height=320&size=20&theme=light',
  )
})
