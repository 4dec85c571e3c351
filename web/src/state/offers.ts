import type { Offers } from '@landpass/client'
import type { FeedGrid } from '@landpass/client/feed'

/**
 * The offers and their prices (docs/offers.md): lists of equal length, whose entries with the same index belong
 * together.
 */
export interface OfferedPrices {
  readonly parcels: Pick<Offers['parcels'], 'x' | 'y' | 'price'>
  readonly estates: Pick<Offers['estates'], 'id' | 'price'>
}

/** What land costs, by the parcel. */
export interface LandPrices {
  /** The price of each offer: that of an estate is divided by its parcels, or large ones would all look dear. */
  readonly ofOffers: readonly number[]
  /** By cell number; not a number where nothing is for sale. */
  readonly ofCells: Float64Array
}

/** Assigns the offers to cells. Offers for land that the grid does not have (yet) are left out. */
export function landPrices(offers: OfferedPrices, grid: FeedGrid): LandPrices {
  const ofCells = new Float64Array(grid.cells.length).fill(Number.NaN)
  const ofOffers: number[] = []
  const lay = (cells: Iterable<number>, price: number) => {
    ofOffers.push(price)
    for (const cell of cells) ofCells[cell] = price
  }
  const cellsOf = cellsOfOfferedEstates(offers, grid)
  offers.estates.id.forEach((id, i) => {
    const cells = cellsOf.get(id)
    if (cells && cells.length > 0) lay(cells, offers.estates.price[i]! / cells.length)
  })
  offers.parcels.x.forEach((x, i) => {
    const cell = grid.cellAt(x, offers.parcels.y[i]!)
    if (cell >= 0) lay([cell], offers.parcels.price[i]!)
  })
  return { ofOffers, ofCells }
}

/** By the id of the estate. One walk over the grid for all of them. */
function cellsOfOfferedEstates({ estates }: OfferedPrices, grid: FeedGrid): ReadonlyMap<string, number[]> {
  const cellsOf = new Map<string, number[]>(estates.id.map((id) => [id, []]))
  grid.estateOf.forEach((estate, cell) => {
    const id = grid.estates.list[estate] // none for number 0
    if (id !== undefined) cellsOf.get(id)?.push(cell)
  })
  return cellsOf
}
