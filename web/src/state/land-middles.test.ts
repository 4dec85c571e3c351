import { expect, test } from 'vitest'
import { drawGrid } from './drawn-grid.ts'
import { estateMiddles, plazaMiddles } from './land-middles.ts'

const GRID = drawGrid(['PP.EEE', 'PPoo.E', '..P...'], {
  '.': { type: 0 },
  o: { type: 2, owner: '0xa' },
  P: { type: 5 },
  E: { type: 2, owner: '0xb', estate: '7' },
})

test('plazas are groups of parcels that share edges, each with a parcel in its middle', () => {
  expect(plazaMiddles(GRID)).toEqual([
    { place: { x: 0, y: 2 }, size: 4 },
    { place: { x: 2, y: 0 }, size: 1 },
  ])
})

test('the middle of an estate is one of its own parcels; an estate that is not in the world has none', () => {
  expect([...estateMiddles(GRID, ['7', '8'])]).toEqual([['7', { place: { x: 4, y: 2 }, size: 4 }]])
})
