import { describe, expect, test } from 'vitest'
import {
  CHOSEN_DISTRICT_INK,
  DIMMED,
  DISTRICT_INK,
  FIRST_PRICE_INK,
  MINE_INK,
  ON_SALE_INK,
} from '../map/inks.ts'
import type { LayerInks } from '../map/map-types.ts'
import { drawGrid } from './drawn-grid.ts'
import {
  cellsOfOwner,
  cellsOfRuns,
  dimmedInks,
  districtInks,
  holdingsOf,
  inkedCells,
  onSaleInks,
  ownerInks,
  priceInks,
} from './layer-inks.ts'
import { landPrices, type OfferedPrices } from './offers.ts'
import { priceSteps } from './price-steps.ts'

const ANN = `0x${'a'.repeat(40)}`
const BOB = `0x${'b'.repeat(40)}`

/** `.` no land, `u` unowned, `A` Ann's estate 7, on sale, `a` Ann's, `b` Bob's, on sale, `D` district, `P` plaza, `R` road */
const GRID = drawGrid(['AAu.', 'DaPb', 'DRRR'], {
  '.': { type: 0 },
  u: { type: 1 },
  A: { type: 2, owner: ANN, estate: '7', isOnSale: true },
  a: { type: 2, owner: ANN },
  b: { type: 2, owner: BOB, isOnSale: true },
  D: { type: 3 },
  P: { type: 5 },
  R: { type: 4 },
})

test('runs are pairs of a cell and how many follow', () => {
  expect([...cellsOfRuns([3, 2, 9, 1])]).toEqual([3, 4, 9])
})

test('all cells but the found ones are dimmed, with and without an ink', () => {
  const onSale = onSaleInks(GRID, [])
  const runs = [GRID.cellAt(0, 2), 1, GRID.cellAt(3, 1), 2]

  const inks = dimmedInks(GRID, onSale, runs)

  const found = [GRID.cellAt(0, 2), GRID.cellAt(3, 1), GRID.cellAt(3, 1) + 1]
  expect([...inks]).toEqual([...onSale].map((ink, cell) => (found.includes(cell) ? ink : ink | DIMMED)))
  expect([...dimmedInks(GRID, undefined, runs)].map((ink) => ink & ~DIMMED)).toEqual([...onSale].fill(0))
  expect(dimmedInks(GRID, undefined, [])).toEqual(new Uint8Array(onSale.length).fill(DIMMED))
})

describe('a layer paints', () => {
  test('what is on sale, by the grid and besides', () => {
    const more = [GRID.cellAt(0, 0), 1]

    expect(drawing(onSaleInks(GRID, []))).toEqual(signs(ON_SALE_INK, ['##  ', '   #', '    ']))
    expect(drawing(onSaleInks(GRID, more))).toEqual(signs(ON_SALE_INK, ['##  ', '   #', '#   ']))
  })

  test('the land of an address, its estates included, and nothing for an address that has none', () => {
    expect(drawing(ownerInks(GRID, cellsOfOwner(GRID, ANN)))).toEqual(
      signs(MINE_INK, ['##  ', ' #  ', '    ']),
    )
    expect(countInked(ownerInks(GRID, cellsOfOwner(GRID, `0x${'c'.repeat(40)}`)))).toBe(0)
    expect(countInked(ownerInks(GRID, cellsOfOwner(GRID, 'undefined')))).toBe(0)
  })

  test('districts, not plazas, and the chosen one over whatever it is made of', () => {
    const road = GRID.cellAt(1, 0)

    const inks = districtInks(GRID, Uint32Array.of(road))

    expect(inks[road]).toBe(CHOSEN_DISTRICT_INK)
    inks[road] = 0
    expect(drawing(inks)).toEqual(signs(DISTRICT_INK, ['    ', '#   ', '#   ']))
    expect(districtInks(GRID, Uint32Array.of(GRID.cellAt(2, 1)))[GRID.cellAt(2, 1)]).toBe(CHOSEN_DISTRICT_INK)
  })

  test('prices by the parcel: the estate is cheaper than the parcel that costs as much', () => {
    const { ofCells, ofOffers } = landPrices(offersOf({ estate: 1000, parcel: 1000 }), GRID)

    const steps = priceSteps(ofOffers)
    const inks = priceInks(ofCells, steps)

    expect(steps.map(({ from, to, count }) => [from, to, count])).toEqual([
      [500, 500, 1],
      [1000, 1000, 1],
    ])
    expect(drawing(inks)[0]).toEqual([FIRST_PRICE_INK, FIRST_PRICE_INK, 0, 0])
    expect(inks[GRID.cellAt(3, 1)]).toBe(FIRST_PRICE_INK + 6)
    expect(countInked(inks)).toBe(3)
  })
})

test('an offer for land that the map does not have is left out', () => {
  const { ofOffers } = landPrices(
    {
      parcels: { x: [99], y: [0], price: [5] },
      estates: { id: ['8'], price: [5] },
    },
    GRID,
  )

  expect(ofOffers).toEqual([])
})

test('what is for sale is counted as parcels, and as offers: an estate is one', () => {
  const { parcels, estates, parcelsInEstates } = holdingsOf(GRID, inkedCells(onSaleInks(GRID, [])))

  expect({ parcels, estates, parcelsInEstates }).toEqual({ parcels: 1, estates: 1, parcelsInEstates: 2 })
})

test('holdings are counted apart: parcels, estates, and the parcels in them', () => {
  expect(holdingsOf(GRID, cellsOfOwner(GRID, ANN))).toEqual({ parcels: 1, estates: 1, parcelsInEstates: 2 })
  expect(holdingsOf(GRID, new Uint32Array(0))).toEqual({ parcels: 0, estates: 0, parcelsInEstates: 0 })
})

function offersOf({ estate, parcel }: { estate: number; parcel: number }): OfferedPrices {
  return {
    parcels: { x: [3], y: [1], price: [parcel] },
    estates: { id: ['7'], price: [estate] },
  }
}

function countInked(inks: LayerInks): number {
  return inks.filter((ink) => ink !== 0).length
}

/** The inks as they lie on the map: rows from north to south. */
function drawing(inks: LayerInks): number[][] {
  return [2, 1, 0].map((y) => [0, 1, 2, 3].map((x) => inks[GRID.cellAt(x, y)]!))
}

function signs(ink: number, lines: readonly string[]): number[][] {
  return lines.map((line) => [...line].map((sign) => (sign === '#' ? ink : 0)))
}
