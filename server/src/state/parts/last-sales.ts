import { cellOf } from '@landpass/client/grid'
import type { LandAssets } from './land-assets.ts'
import type { SaleParts, StateParts } from './parts.ts'
import { positionsOf } from './positions.ts'

/** The last sale of each asset: see `LandAssets`. */
export interface LastSales {
  /** Per asset, in milliseconds since 1970; -1 where it was never sold. */
  readonly timeMs: Float64Array
  /** In MANA, with every digit, of an asset that was sold. */
  priceOf(asset: number): string
}

interface Known {
  readonly from: SaleParts
  readonly sales: LastSales
}

const knownOf = new WeakMap<LandAssets, Known>()

/** Cached until a sale comes or goes. @param assets those of the same state */
export function lastSalesOf(parts: StateParts, assets: LandAssets): LastSales {
  const known = knownOf.get(assets)
  if (known?.from === parts.sales) return known.sales
  const sales = find(parts, assets)
  knownOf.set(assets, { from: parts.sales, sales })
  return sales
}

function find({ sales, parcels, estates, bounds }: StateParts, assets: LandAssets): LastSales {
  const timeMs = new Float64Array(assets.count).fill(-1)
  const rowOf = new Int32Array(assets.count).fill(-1)
  const estateRows = positionsOf(estates.ids)
  const estateOf = sales.estateIds.map((id) => estateRows.get(id) ?? -1)
  const parcelAt = (x: number, y: number) => parcels.rowAt[cellOf(bounds, { x, y })] ?? -1
  for (let row = 0; row < sales.key.length; row++) {
    const estate = sales.estate[row]!
    const parcel = estate < 0 ? parcelAt(sales.x[row]!, sales.y[row]!) : -1
    const asset = estate < 0 ? (parcel < 0 ? -1 : assets.estates + parcel) : estateOf[estate]!
    // Sales are in the order of their times, and of what was logged.
    if (asset < 0 || sales.timeMs[row]! < timeMs[asset]!) continue
    timeMs[asset] = sales.timeMs[row]!
    rowOf[asset] = row
  }
  return { timeMs, priceOf: (asset) => sales.price[rowOf[asset]!]! }
}
