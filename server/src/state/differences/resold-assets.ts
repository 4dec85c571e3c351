import { ASSET_TYPE_CODES } from '../parts/parts.ts'
import type { StateAt, StateVersion } from './state-version.ts'

/** Rows of assets in the state. */
export interface AssetRows {
  readonly parcels: ReadonlySet<number>
  readonly estates: ReadonlySet<number>
}

/** What may have come on sale or gone from it: by a publication that changed, or by one that expired in between. */
export function resoldAssets(
  { state, sales }: StateAt,
  since: StateVersion,
  changedKeys: ReadonlySet<number>,
): AssetRows {
  const { key, open, openExpiresAtMs, asset, assetType } = state.parts.publications
  // Another process may have told the older state, by a clock that is ahead of ours.
  const fromMs = Math.min(since.lastExpiryMs, sales.lastExpiryMs)
  const toMs = Math.max(since.lastExpiryMs, sales.lastExpiryMs)
  const parcels = new Set<number>()
  const estates = new Set<number>()
  for (let row = 0; row < key.length; row++) {
    if (asset[row]! < 0) continue
    const offer = open[row]!
    const hasExpired = offer >= 0 && openExpiresAtMs[offer]! > fromMs && openExpiresAtMs[offer]! <= toMs
    if (!hasExpired && !changedKeys.has(key[row]!)) continue
    const rows = assetType[row] === ASSET_TYPE_CODES.parcel ? parcels : estates
    rows.add(asset[row]!)
  }
  return { parcels, estates }
}
