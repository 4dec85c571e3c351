import type { Registries } from '../../land/records/contracts.ts'
import { type CheapestOffers, cheapestOffersAt } from '../../state/parts/cheapest-offers.ts'
import { type LandAssets, landAssetsOf } from '../../state/parts/land-assets.ts'
import { type LastSales, lastSalesOf } from '../../state/parts/last-sales.ts'
import type { EstateParts, ParcelParts, StateParts } from '../../state/parts/parts.ts'
import { lastRentEnd } from '../../state/parts/rents.ts'
import { type UnlistedNow, unlistedAt } from '../../state/parts/unlisted-offers.ts'
import type { State } from '../../state/state.ts'

/**
 * What the rows of `/v2/land` are made of, at one revision and one time: columns of the state. It has none of the state's JSON, so
 * that a slow client holds a few megabytes in memory, not the whole state.
 */
export interface LandView {
  readonly bounds: StateParts['bounds']
  readonly assets: LandAssets
  /** Those in MANA. */
  readonly offers: CheapestOffers
  readonly unlisted: UnlistedNow
  readonly lastSales: LastSales
  readonly parcels: Omit<ParcelParts, 'json'>
  readonly estates: Omit<EstateParts, 'json'>
  readonly publications: Pick<StateParts['publications'], 'madeAtMs' | 'txHash' | 'isSigned'>
  readonly districtIds: readonly string[]
  readonly registries: Registries
  readonly nowMs: number
}

export function landViewOf({ parts }: State, registries: Registries, nowMs: number): LandView {
  const { json: _parcels, ...parcels } = parts.parcels
  const { json: _estates, ...estates } = parts.estates
  const { madeAtMs, txHash, isSigned } = parts.publications
  const assets = landAssetsOf(parts)
  return {
    bounds: parts.bounds,
    assets,
    offers: cheapestOffersAt(parts, assets, nowMs),
    unlisted: unlistedAt(parts, assets, nowMs),
    lastSales: lastSalesOf(parts, assets),
    parcels,
    estates,
    publications: { madeAtMs, txHash, isSigned },
    districtIds: parts.districts.ids,
    registries,
    nowMs,
  }
}

/** When the last offer or rent ended, 0 if none has: from then on rows are other ones. */
export function lastEndOf({ offers, unlisted, parcels, estates, nowMs }: LandView): number {
  return Math.max(
    offers.lastExpiryMs,
    unlisted.lastExpiryMs,
    lastRentEnd(parcels.rents, nowMs),
    lastRentEnd(estates.rents, nowMs),
  )
}

/** The cheapest open offer of an asset in MANA; where it has none, the cheapest one in dollars. Undefined where it has neither. */
export interface OfferOfAsset {
  readonly currency: 'mana' | 'usd'
  readonly source: 'order' | 'trade'
  /** When the newest of all its offers was made. */
  readonly newestAtMs: number
  readonly expiresAtMs: number
}

export function offerOfAsset(view: LandView, asset: number): OfferOfAsset | undefined {
  const { offers, unlisted } = view
  const place = offers.placeOf[asset]!
  const dollars = unlisted.dollars.get(asset)
  if (place < 0)
    return (
      dollars && {
        ...{
          currency: 'usd',
          source: 'trade',
          newestAtMs: dollars.madeAtMs,
          expiresAtMs: dollars.expiresAtMs,
        },
      }
    )
  return {
    currency: 'mana',
    source: sourceOf(view, offers.publication[place]!),
    newestAtMs: Math.max(offers.listedAtMs[place]!, dollars?.madeAtMs ?? 0),
    expiresAtMs: offers.expiresAtMs[place]!,
  }
}

/** The numbers of the assets that are offered, in whatever currency, ascending. */
export function offeredAssets({ offers, unlisted }: LandView): Uint32Array {
  const known = offeredOf.get(unlisted)
  if (known?.offers === offers) return known.assets
  const others = [...unlisted.dollars.keys()].filter((asset) => offers.placeOf[asset]! < 0)
  const assets = others.length === 0 ? offers.assets : Uint32Array.from([...offers.assets, ...others]).sort()
  offeredOf.set(unlisted, { offers, assets })
  return assets
}

/** Cached until an offer changes or expires. */
const offeredOf = new WeakMap<
  UnlistedNow,
  { readonly offers: CheapestOffers; readonly assets: Uint32Array }
>()

/** Where the offer of an open publication was made. @param row of the publication */
export function sourceOf({ publications }: Pick<LandView, 'publications'>, row: number): 'order' | 'trade' {
  return publications.isSigned[row] === 1 ? 'trade' : 'order'
}
