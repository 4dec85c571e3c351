import { NumberSet } from '../parts/number-set.ts'
import { ASSET_TYPE_CODES, type AssetRents } from '../parts/parts.ts'
import type { StateAt, StateVersion } from './state-version.ts'

/** Rows of assets in the state. */
export interface AssetRows {
  readonly parcels: ReadonlySet<number>
  readonly estates: ReadonlySet<number>
}

/** Assets whose offer or rent may differ: one of their publications changed, or one of both expired in between. */
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
  const isChanged = NumberSet.of(changedKeys)
  const hasExpired = (offer: number) =>
    offer >= 0 && openExpiresAtMs[offer]! > fromMs && openExpiresAtMs[offer]! <= toMs
  // Most blocks change no publication, and nothing has expired since the last one.
  const rowsToSearch = changedKeys.size === 0 && fromMs === toMs ? 0 : key.length
  for (let row = 0; row < rowsToSearch; row++) {
    if (asset[row]! < 0) continue
    if (!isChanged.has(key[row]!) && !hasExpired(open[row]!)) continue
    const rows = assetType[row] === ASSET_TYPE_CODES.parcel ? parcels : estates
    rows.add(asset[row]!)
  }
  addEnded(parcels, state.parts.parcels.rents, { fromMs, toMs })
  addEnded(estates, state.parts.estates.rents, { fromMs, toMs })
  return { parcels, estates }
}

/** Adds the assets whose rent has ended after `fromMs`, at `toMs` or before. */
function addEnded(
  rows: Set<number>,
  rents: AssetRents,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): void {
  for (const [place, endMs] of rents.untilMs.entries())
    if (endMs > fromMs && endMs <= toMs) rows.add(rents.rows[place]!)
}
