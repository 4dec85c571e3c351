import { type FeedGrid, ON_SALE } from '@landpass/client/feed'
import { CHOSEN_DISTRICT_INK, DIMMED, DISTRICT_INK, MINE_INK, NO_INK, ON_SALE_INK } from '../map/inks.ts'
import type { LayerInks } from '../map/map-types.ts'
import { type PriceStep, priceInk } from './price-steps.ts'

/** The lowest bits of a cell are its type (docs/feed.md). */
const TYPE = 0b111
const DISTRICT = 3

/** The parts of the grid that layers use. */
export type Ground = Pick<FeedGrid, 'cells' | 'ownerOf' | 'estateOf' | 'owners' | 'estates'>

/** @param more runs of cells that the grid does not know to be for sale */
export function onSaleInks({ cells }: Ground, more: readonly number[]): LayerInks {
  const inks = cells.map((cell) => ((cell & ON_SALE) === 0 ? NO_INK : ON_SALE_INK))
  fillRuns(inks, more, ON_SALE_INK)
  return inks
}

/** @param priceOf by cell number; not a number where nothing is for sale */
export function priceInks(priceOf: Float64Array, steps: readonly PriceStep[]): LayerInks {
  return Uint8Array.from(priceOf, (price) => (Number.isNaN(price) ? NO_INK : priceInk(steps, price)))
}

/**
 * Plazas and roads keep the colours that the legend has for them, also where they belong to a district.
 *
 * @param chosen cells of the district that is brought out: all of them are painted, plazas and roads too
 */
export function districtInks({ cells }: Ground, chosen: Uint32Array): LayerInks {
  const inks = cells.map((cell) => ((cell & TYPE) === DISTRICT ? DISTRICT_INK : NO_INK))
  for (const cell of chosen) inks[cell] = CHOSEN_DISTRICT_INK
  return inks
}

/** @param owned cells of one address */
export function ownerInks({ cells }: Ground, owned: Uint32Array): LayerInks {
  const inks = new Uint8Array(cells.length)
  for (const cell of owned) inks[cell] = MINE_INK
  return inks
}

/**
 * Dims all cells but some.
 *
 * @param inks undefined: no cell has an ink
 * @param runs of the cells that are not dimmed
 */
export function dimmedInks(
  { cells }: Ground,
  inks: LayerInks | undefined,
  runs: readonly number[],
): LayerInks {
  const dimmed = new Uint8Array(cells.length).fill(DIMMED)
  fillRuns(dimmed, runs, NO_INK)
  return inks ? dimmed.map((dim, cell) => dim | inks[cell]!) : dimmed
}

/** @param runs pairs of a cell and how many there are from it on, as `/v2/land/cells` has them */
function fillRuns(inks: LayerInks, runs: readonly number[], ink: number): void {
  for (let i = 0; i + 1 < runs.length; i += 2) inks.fill(ink, runs[i], runs[i]! + runs[i + 1]!)
}

/** The cells of an address (in lower case), those of its estates among them. */
export function cellsOfOwner({ ownerOf, owners }: Ground, address: string): Uint32Array {
  return cellsWith(ownerOf, owners.list.indexOf(address))
}

export function cellsOfEstate({ estateOf, estates }: Ground, id: string): Uint32Array {
  return cellsWith(estateOf, estates.list.indexOf(id))
}

/** @param runs as {@link dimmedInks} takes them */
export function cellsOfRuns(runs: readonly number[]): Uint32Array {
  const cells: number[] = []
  for (let i = 0; i + 1 < runs.length; i += 2)
    for (let cell = runs[i]!; cell < runs[i]! + runs[i + 1]!; cell++) cells.push(cell)
  return Uint32Array.from(cells)
}

/** The cells that have an ink. */
export function inkedCells(inks: LayerInks): Uint32Array {
  const found: number[] = []
  for (let cell = 0; cell < inks.length; cell++) if (inks[cell] !== NO_INK) found.push(cell)
  return Uint32Array.from(found)
}

/** How many parcels and estates some cells are, as the map has it. */
export interface Holdings {
  /** Parcels of no estate. */
  readonly parcels: number
  readonly estates: number
  readonly parcelsInEstates: number
}

export function holdingsOf(ground: Ground, cells: Uint32Array): Holdings {
  const estates = new Set<number>()
  let parcels = 0
  for (const cell of cells) {
    const estate = ground.estateOf[cell]!
    if (estate === 0) parcels += 1
    else estates.add(estate)
  }
  return { parcels, estates: estates.size, parcelsInEstates: cells.length - parcels }
}

function cellsWith(numberOf: Uint32Array, wanted: number): Uint32Array {
  const cells: number[] = []
  // Number 0 stands for no owner or estate, and -1 for a name that is not in the list.
  if (wanted > 0) {
    for (let cell = 0; cell < numberOf.length; cell++) if (numberOf[cell] === wanted) cells.push(cell)
  }
  return Uint32Array.from(cells)
}
