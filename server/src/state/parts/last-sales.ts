import type { LandAssets } from './land-assets.ts'
import { ASSET_TYPE_CODES, type PublicationParts, STATUS_CODES } from './parts.ts'

/** The last sale of each asset: see `LandAssets`. */
export interface LastSales {
  /** Per asset, in milliseconds since 1970; -1 where it was never sold. */
  readonly timeMs: Float64Array
  /** In MANA, with every digit, of an asset that was sold. */
  priceOf(asset: number): string
}

interface Known {
  readonly publications: PublicationParts
  readonly sales: LastSales
}

const knownOf = new WeakMap<LandAssets, Known>()

/** Cached until a publication changes. @param assets those of the same state */
export function lastSalesOf(publications: PublicationParts, assets: LandAssets): LastSales {
  const known = knownOf.get(assets)
  if (known?.publications === publications) return known.sales
  const sales = find(publications, assets)
  knownOf.set(assets, { publications, sales })
  return sales
}

function find(publications: PublicationParts, assets: LandAssets): LastSales {
  const { status, asset: assetOf, assetType, updatedAtMs, madeAtMs, key, prices, priceRank } = publications
  const timeMs = new Float64Array(assets.count).fill(-1)
  const rowOf = new Int32Array(assets.count).fill(-1)
  for (let row = 0; row < status.length; row++) {
    if (status[row] !== STATUS_CODES.sold || assetOf[row]! < 0) continue
    const asset = assetOf[row]! + (assetType[row] === ASSET_TYPE_CODES.parcel ? assets.estates : 0)
    if (asset >= assets.count) continue
    // A snapshot need not say when it was sold.
    const soldAtMs = Number.isNaN(updatedAtMs[row]!) ? madeAtMs[row]! : updatedAtMs[row]!
    const isLater =
      soldAtMs > timeMs[asset]! || (soldAtMs === timeMs[asset] && key[row]! > key[rowOf[asset]!]!)
    if (!isLater) continue
    timeMs[asset] = soldAtMs
    rowOf[asset] = row
  }
  return { timeMs, priceOf: (asset) => prices[priceRank[rowOf[asset]!]!]! }
}
