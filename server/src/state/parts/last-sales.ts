import type { LandAssets } from './land-assets.ts'
import { ASSET_TYPE_CODES, type PublicationParts, STATUS_CODES } from './parts.ts'

const knownOf = new WeakMap<
  LandAssets,
  { readonly status: Uint8Array; readonly asset: Int32Array; readonly rows: Int32Array }
>()

/**
 * Per asset (see `LandAssets`) the row of the publication that was sold last, or -1. Cached until a publication changes.
 *
 * @param assets those of the same state
 */
export function lastSalesOf(publications: PublicationParts, assets: LandAssets): Int32Array {
  const { status, asset: assetOf, assetType, updatedAtMs, key } = publications
  const known = knownOf.get(assets)
  if (known?.status === status && known.asset === assetOf) return known.rows
  const rows = new Int32Array(assets.count).fill(-1)
  for (let row = 0; row < status.length; row++) {
    if (status[row] !== STATUS_CODES.sold || assetOf[row]! < 0) continue
    const asset = assetOf[row]! + (assetType[row] === ASSET_TYPE_CODES.parcel ? assets.estates : 0)
    if (asset >= assets.count) continue
    const other = rows[asset]!
    const isLater =
      other < 0 ||
      updatedAtMs[row]! > updatedAtMs[other]! ||
      (updatedAtMs[row] === updatedAtMs[other] && key[row]! > key[other]!)
    if (isLater) rows[asset] = row
  }
  knownOf.set(assets, { status, asset: assetOf, rows })
  return rows
}
