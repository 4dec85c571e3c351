import type { SearchResult } from '@landpass/client'
import { describe, expect, test } from 'vitest'
import { drawGrid } from '../state/drawn-grid.ts'
import { isPlazaWord, mergedResults, outsidePlace, plazasNear, typedResults } from './search-results.ts'

const ANN = `0x${'a'.repeat(40)}`
const GRID = drawGrid(['EE.', 'oE.'], {
  '.': { type: 0 },
  o: { type: 2, owner: ANN },
  E: { type: 2, owner: ANN, estate: '7' },
})

describe('what the page finds without the server', () => {
  test('is a place with land, under the name that the server gives it', () => {
    expect(typedResults('(1; 0)', GRID)).toMatchObject([
      { type: 'parcel', id: '1,0', x: 1, y: 0, owner: ANN },
    ])
    expect(typedResults('2,0', GRID)).toEqual([])
    expect(typedResults('99,0', GRID)).toEqual([])
  })

  test('is an address, with what it owns', () => {
    expect(typedResults(` ${ANN.toUpperCase()}`, GRID)).toMatchObject([
      { type: 'address', id: ANN, parcels: 1, estates: 1 },
    ])
  })

  test('is nothing for a name, or without a world', () => {
    expect(typedResults('museum', GRID)).toEqual([])
    expect(typedResults('1,0', undefined)).toEqual([])
  })
})

test('plazas are found by their word in any letters, or by its beginning, and come nearest first', () => {
  const plazas = [
    { place: { x: 0, y: 0 }, size: 9 },
    { place: { x: 40, y: -30 }, size: 4 },
  ]

  expect(plazasNear(plazas, { x: 40, y: 0 })).toMatchObject([
    { type: 'plaza', id: '40,-30', parcels: 4, distance: 30 },
    { type: 'plaza', id: '0,0', parcels: 9, distance: 40 },
  ])
  for (const word of ['plaza', 'PLA', 'Plazas', '广场', 'Ｐｌａｚａ'])
    expect(isPlazaWord(word, ['plaza', '广场']), word).toBe(true)
  for (const word of ['', 'pl', 'plaza 3', 'laza', '广'])
    expect(isPlazaWord(word, ['plaza', '广场']), word).toBe(false)
})

test('a place outside of the world is named, and whether it is beyond the bounds', () => {
  expect(outsidePlace('500,0', GRID)).toEqual({ x: 500, y: 0, isBeyond: true })
  expect(outsidePlace('(2; 0)', GRID)).toEqual({ x: 2, y: 0, isBeyond: false })
  expect(outsidePlace('1,0', GRID)).toBeUndefined()
  expect(outsidePlace('museum', GRID)).toBeUndefined()
  expect(outsidePlace('500,0', undefined)).toBeUndefined()
})

test('the server’s results follow, and take the place of what is the same', () => {
  const typed = typedResults('1,0', GRID)
  const named: SearchResult = { ...typed[0]!, name: 'Corner' }
  const other: SearchResult = { ...typed[0]!, id: '1,1' }

  expect(mergedResults(typed, [other])).toEqual([typed[0], other])
  expect(mergedResults(typed, [other, named])).toEqual([other, named])
})
