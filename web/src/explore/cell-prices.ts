import type { LandRow } from '@landpass/client'
import type { FeedGrid } from '@landpass/client/feed'
import type { OfferedPrices } from '../state/offers.ts'

export interface CellPrice {
  readonly amount: number
  readonly currency: 'mana' | 'usd'
}

interface OfferedRow extends Pick<LandRow, 'x' | 'y'> {
  readonly offer: { readonly price_usd: string | null } | null
}

/**
 * The price of each offer, on one cell: an estate's is on its most western parcel.
 *
 * @param inDollars land that is offered for dollars alone, which the offers do not have
 * @returns by cell number
 */
export function cellPrices(
  { parcels, estates }: OfferedPrices,
  inDollars: readonly OfferedRow[],
  grid: FeedGrid,
): ReadonlyMap<number, CellPrice> {
  const prices = new Map<number, CellPrice>()
  const priceOf = new Map(estates.id.map((id, i) => [grid.estates.list.indexOf(id), estates.price[i]!]))
  for (const { x, y, offer } of inDollars) {
    const cell = grid.cellAt(x, y)
    // The rows may be older than the offers
    if (!offer?.price_usd || priceOf.has(grid.estateOf[cell]!)) continue
    prices.set(cell, { amount: Number(offer.price_usd), currency: 'usd' })
  }
  grid.estateOf.forEach((estate, cell) => {
    const amount = estate > 0 ? priceOf.get(estate) : undefined
    if (amount === undefined) return
    prices.set(cell, { amount, currency: 'mana' })
    priceOf.delete(estate)
  })
  parcels.x.forEach((x, i) => {
    prices.set(grid.cellAt(x, parcels.y[i]!), { amount: parcels.price[i]!, currency: 'mana' })
  })
  return prices
}
