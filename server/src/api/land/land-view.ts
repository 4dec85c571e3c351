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

/**
 * What is for sale: of each asset the cheapest open offer in MANA; where it has none, that in dollars. Columns with a value per place; a
 * place is an index into `assets`.
 */
export interface OfferedAssets {
  /** Their numbers, ascending. */
  readonly assets: Uint32Array
  /** Per asset its place, or -1. */
  readonly placeOf: Int32Array
  readonly isInDollars: Uint8Array
  /** Whether the offer was signed off the chain. */
  readonly isTrade: Uint8Array
  readonly expiresAtMs: Float64Array
}

const offeredOf = new WeakMap<
  UnlistedNow,
  { readonly offers: CheapestOffers; readonly offered: OfferedAssets }
>()

/** Cached until an offer changes or expires. */
export function offeredAssets(view: LandView): OfferedAssets {
  const { offers, unlisted } = view
  const known = offeredOf.get(unlisted)
  if (known?.offers === offers) return known.offered
  const offered = collectOffered(view)
  offeredOf.set(unlisted, { offers, offered })
  return offered
}

function collectOffered({ offers, unlisted: { dollars }, publications }: LandView): OfferedAssets {
  const others = [...dollars.keys()].filter((asset) => offers.placeOf[asset]! < 0)
  const assets = others.length === 0 ? offers.assets : Uint32Array.from([...offers.assets, ...others]).sort()
  const placeOf = others.length === 0 ? offers.placeOf : new Int32Array(offers.placeOf.length).fill(-1)
  const columns = {
    isInDollars: new Uint8Array(assets.length),
    isTrade: new Uint8Array(assets.length),
    expiresAtMs: new Float64Array(assets.length),
  }
  for (const [place, asset] of assets.entries()) {
    const inMana = offers.placeOf[asset]!
    const inDollars = dollars.get(asset)
    if (others.length > 0) placeOf[asset] = place
    columns.isInDollars[place] = Number(inMana < 0)
    columns.isTrade[place] = inMana < 0 ? 1 : publications.isSigned[offers.publication[inMana]!]!
    columns.expiresAtMs[place] = offers.expiresAtMs[inMana] ?? inDollars!.expiresAtMs
  }
  return { assets, placeOf, ...columns }
}

/** When the newest of all open offers of an asset, to buy or to rent it, was made; 0 where it has none. */
export function newestOfferMs({ offers, unlisted }: LandView, asset: number): number {
  return Math.max(offers.listedAtMs[offers.placeOf[asset]!] ?? 0, unlisted.newestAtMs.get(asset) ?? 0)
}

/** Where the offer of an open publication was made. @param row of the publication */
export function sourceOf({ publications }: Pick<LandView, 'publications'>, row: number): 'order' | 'trade' {
  return publications.isSigned[row] === 1 ? 'trade' : 'order'
}
