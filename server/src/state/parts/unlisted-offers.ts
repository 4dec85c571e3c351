import { type Coord, coordText, parseCoord } from '@landpass/client/grid'
import { weiOf } from '../../land/events/amounts.ts'
import type { UnlistedOffer } from '../../land/records/unlisted-offer.ts'
import type { LandAssets } from './land-assets.ts'
import { findParcelRow } from './parcel-rows.ts'
import type { StateParts } from './parts.ts'
import { positionsOf } from './positions.ts'

/** Replaces the offers of some assets: those of the tables now. */
export function patchUnlisted(
  held: readonly UnlistedOffer[],
  changed: { readonly parcels: readonly Coord[]; readonly estates: readonly string[] },
  now: readonly UnlistedOffer[],
): readonly UnlistedOffer[] {
  const parcels = new Set(changed.parcels.map(coordText))
  const estates = new Set(changed.estates)
  const isChanged = ({ assetType, assetId }: UnlistedOffer) =>
    (assetType === 'parcel' ? parcels : estates).has(assetId)
  if (now.length === 0 && !held.some(isChanged)) return held
  return [...held.filter((offer) => !isChanged(offer)), ...now]
}

/** The cheapest offer of a kind of each asset that can be accepted at a time, by number of the asset: see `LandAssets`. */
export interface UnlistedNow {
  readonly dollars: ReadonlyMap<number, UnlistedOffer>
  readonly rentals: ReadonlyMap<number, UnlistedOffer>
  /** When the newest of these offers, of both kinds, was made, by number of the asset. */
  readonly newestAtMs: ReadonlyMap<number, number>
  /** When the last one of all expired, 0 if none has. */
  readonly lastExpiryMs: number
  /** When the next one expires; Infinity for none. */
  readonly nextExpiryMs: number
}

type Source = Pick<StateParts, 'bounds' | 'parcels' | 'estates' | 'unlisted'>

const nowOf = new WeakMap<Numbered, UnlistedNow>()

/** Cached until such an offer, or the numbers of assets change, or one expires. */
export function unlistedAt(source: Source, assets: LandAssets, nowMs: number): UnlistedNow {
  const numbered = numberedOf(source, assets)
  const known = nowOf.get(numbered)
  if (known && known.lastExpiryMs <= nowMs && nowMs < known.nextExpiryMs) return known
  const now = cheapestOf(numbered, nowMs)
  nowOf.set(numbered, now)
  return now
}

function cheapestOf(numbered: Numbered, nowMs: number): UnlistedNow {
  const cheapest = { dollars: new Map<number, UnlistedOffer>(), rental: new Map<number, UnlistedOffer>() }
  const newestAtMs = new Map<number, number>()
  let lastExpiryMs = 0
  let nextExpiryMs = Number.POSITIVE_INFINITY
  for (const [asset, offer] of numbered) {
    if (offer.expiresAtMs <= nowMs) {
      lastExpiryMs = Math.max(lastExpiryMs, offer.expiresAtMs)
      continue
    }
    nextExpiryMs = Math.min(nextExpiryMs, offer.expiresAtMs)
    newestAtMs.set(asset, Math.max(newestAtMs.get(asset) ?? 0, offer.madeAtMs))
    const before = cheapest[offer.kind].get(asset)
    if (!before || isCheaper(offer, before)) cheapest[offer.kind].set(asset, offer)
  }
  return { dollars: cheapest.dollars, rentals: cheapest.rental, newestAtMs, lastExpiryMs, nextExpiryMs }
}

/** Any one of equal prices is as good, but it is the same in every process: the offers have no order. */
function isCheaper(one: UnlistedOffer, other: UnlistedOffer): boolean {
  const [price, otherPrice] = [weiOf(one.price), weiOf(other.price)]
  return price < otherPrice || (price === otherPrice && one.hash < other.hash)
}

type Numbered = readonly (readonly [asset: number, offer: UnlistedOffer])[]
const knownOf = new WeakMap<readonly UnlistedOffer[], { assets: LandAssets; numbered: Numbered }>()

/** Cached until such an offer, or the numbers of assets change. */
function numberedOf({ bounds, parcels, estates, unlisted }: Source, assets: LandAssets): Numbered {
  const known = knownOf.get(unlisted)
  if (known?.assets === assets) return known.numbered
  const estateRows = positionsOf(estates.ids)
  const numbered = unlisted.flatMap((offer) => {
    if (offer.assetType === 'estate') {
      const row = estateRows.get(offer.assetId)
      return row === undefined || assets.size[row] === 0 ? [] : [[row, offer] as const]
    }
    const at = parseCoord(offer.assetId)
    const row = at ? findParcelRow(bounds, parcels, at) : -1
    // A parcel of an estate is sold with it.
    const isStanding = row >= 0 && row < parcels.inWorld && parcels.estate[row]! < 0
    return isStanding ? [[assets.estates + row, offer] as const] : []
  })
  knownOf.set(unlisted, { assets, numbered })
  return numbered
}
