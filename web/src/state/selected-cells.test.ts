import { describe, expect, test } from 'vitest'
import { drawGrid } from './drawn-grid.ts'
import { findPicked, selectedCells } from './selected-cells.ts'

const GRID = drawGrid(['EE.', 'oE.'], {
  '.': { type: 0 },
  o: { type: 2, owner: '0xa' },
  E: { type: 2, owner: '0xb', estate: '7' },
})

describe('picking a place', () => {
  test('selects a parcel, or the estate that it belongs to', () => {
    expect(findPicked(GRID, { x: 0, y: 0 }, undefined)).toEqual({ type: 'parcel', x: 0, y: 0 })
    expect(findPicked(GRID, { x: 1, y: 1 }, undefined)).toEqual({ type: 'estate', id: '7' })
  })

  test('selects the parcel of an estate that is selected already, and then the estate again', () => {
    const estate = findPicked(GRID, { x: 1, y: 1 }, undefined)
    const parcel = findPicked(GRID, { x: 0, y: 1 }, estate)

    expect(parcel).toEqual({ type: 'parcel', x: 0, y: 1 })
    expect(findPicked(GRID, { x: 0, y: 1 }, parcel)).toEqual(estate)
  })

  test('selects nothing where no land is', () => {
    expect(findPicked(GRID, { x: 2, y: 0 }, { type: 'parcel', x: 0, y: 0 })).toBeUndefined()
    expect(findPicked(GRID, { x: 99, y: 0 }, undefined)).toBeUndefined()
  })
})

test('the cells of a selection are those of its parcels, and none for what this world does not have', () => {
  expect([...selectedCells(GRID, { type: 'estate', id: '7' })]).toEqual([
    GRID.cellAt(0, 1),
    GRID.cellAt(1, 1),
    GRID.cellAt(1, 0),
  ])
  expect([...selectedCells(GRID, { type: 'parcel', x: 0, y: 0 })]).toEqual([GRID.cellAt(0, 0)])
  expect(selectedCells(GRID, { type: 'parcel', x: 99, y: 0 })).toHaveLength(0)
  expect(selectedCells(GRID, { type: 'estate', id: '8' })).toHaveLength(0)
  expect(selectedCells(GRID, undefined)).toHaveLength(0)
})
