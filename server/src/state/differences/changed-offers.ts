import { ASSET_TYPE_CODES } from '../parts/parts.ts'
import type { StateAt, StateVersion } from './state-version.ts'

/** Rows of assets in the state. */
export interface AssetRows {
  readonly parcels: ReadonlySet<number>
  readonly estates: ReadonlySet<number>
}

/** Assets whose offer may differ: one of their publications changed, or expired in between. */
export function assetsWithChangedOffers(
  { state, openOffers }: StateAt,
  since: StateVersion,
  changedKeys: ReadonlySet<number>,
): AssetRows {
  const { key, open, openExpiresAtMs, asset, assetType } = state.parts.publications
  // `since` may come from another process whose clock is ahead, so it can have the later expiry.
  const fromMs = Math.min(since.lastExpiryMs, openOffers.lastExpiryMs)
  const toMs = Math.max(since.lastExpiryMs, openOffers.lastExpiryMs)
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
