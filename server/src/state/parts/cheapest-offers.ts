import { manaText, weiOf } from '../../land/events/amounts.ts'
import type { LandAssets } from './land-assets.ts'
import type { PublicationParts, StateParts } from './parts.ts'
import { addPrices, type PriceList } from './price-ranks.ts'

/**
 * The offers that can be accepted at a time, from one expiry until the next. A parcel of an estate has none: it is sold with
 * its estate. Columns with a value per place; a place is an index into `assets`.
 */
export interface CheapestOffers {
  /** Numbers of the assets that have such an offer, ascending: see `LandAssets`. */
  readonly assets: Uint32Array
  /** Per asset its place, or -1. */
  readonly placeOf: Int32Array
  /** The number of the cheapest offer; of equal ones the newest. */
  readonly offer: Uint32Array
  /** Its row among the publications. */
  readonly publication: Uint32Array
  readonly expiresAtMs: Float64Array
  /** When the newest offer was made. */
  readonly listedAtMs: Float64Array
  /** Index in `prices`. */
  readonly price: Uint32Array
  /** Index in `pricesPerParcel`: the price divided by the number of parcels, rounded down to 18 decimals. */
  readonly pricePerParcel: Uint32Array
  readonly prices: PriceList
  readonly pricesPerParcel: PriceList
  /** When the last offer of all expired, 0 if none has. */
  readonly lastExpiryMs: number
  /** When the next one expires: from then on these are other offers. */
  readonly nextExpiryMs: number
}

type Source = Pick<StateParts, 'parcels' | 'estates' | 'publications'>

interface Known {
  readonly publications: PublicationParts
  readonly offers: CheapestOffers
}

const knownOf = new WeakMap<LandAssets, Known>()

/** Cached until an offer changes or expires. @param assets those of the same state */
export function cheapestOffersAt(source: Source, assets: LandAssets, nowMs: number): CheapestOffers {
  const known = knownOf.get(assets)
  if (known?.publications === source.publications) {
    const { lastExpiryMs, nextExpiryMs } = known.offers
    if (lastExpiryMs <= nowMs && nowMs < nextExpiryMs) return known.offers
  }
  const offers = find(source, assets, nowMs)
  knownOf.set(assets, { publications: source.publications, offers })
  return offers
}

function find({ parcels, estates, publications }: Source, assets: LandAssets, nowMs: number): CheapestOffers {
  const { openNext, openExpiresAtMs, openMadeAtMs, open, priceRank, prices } = publications
  const publicationOf = new Uint32Array(publications.openKey.length)
  for (let row = 0; row < open.length; row++) if (open[row]! >= 0) publicationOf[open[row]!] = row
  const found: number[] = []
  const offers: number[] = []
  const listedAtMs: number[] = []
  let lastExpiryMs = 0
  let nextExpiryMs = Number.POSITIVE_INFINITY
  for (const asset of assets.standing.list()) {
    const row = asset - assets.estates
    let offer = row < 0 ? estates.offers.first[asset]! : parcels.offers.first[row]!
    // Nearly all assets have no offer.
    if (offer < 0) continue
    let cheapest = -1
    let newest = -1
    for (; offer >= 0; offer = openNext[offer]!) {
      const expiresAtMs = openExpiresAtMs[offer]!
      if (expiresAtMs <= nowMs) {
        lastExpiryMs = Math.max(lastExpiryMs, expiresAtMs)
        continue
      }
      nextExpiryMs = Math.min(nextExpiryMs, expiresAtMs)
      if (newest < 0) newest = offer
      if (cheapest < 0 || priceRank[publicationOf[offer]!]! < priceRank[publicationOf[cheapest]!]!)
        cheapest = offer
    }
    if (newest < 0) continue
    found.push(asset)
    offers.push(cheapest)
    listedAtMs.push(openMadeAtMs[newest]!)
  }
  const placeOf = new Int32Array(assets.count).fill(-1)
  for (const [place, asset] of found.entries()) placeOf[asset] = place
  const publication = Uint32Array.from(offers, (offer) => publicationOf[offer]!)
  const price = Uint32Array.from(publication, (row) => priceRank[row]!)
  return {
    assets: Uint32Array.from(found),
    placeOf,
    offer: Uint32Array.from(offers),
    publication,
    expiresAtMs: Float64Array.from(offers, (offer) => openExpiresAtMs[offer]!),
    listedAtMs: Float64Array.from(listedAtMs),
    price,
    prices,
    ...pricesPerParcel(
      prices,
      price,
      Uint32Array.from(found, (asset) => assets.size[asset]!),
    ),
    lastExpiryMs,
    nextExpiryMs,
  }
}

function pricesPerParcel(prices: PriceList, price: Uint32Array, size: Uint32Array) {
  const divided: number[] = []
  const added: string[] = []
  for (let place = 0; place < price.length; place++) {
    if (size[place] === 1) continue
    divided.push(place)
    added.push(manaText(weiOf(prices[price[place]!]!) / BigInt(size[place]!)))
  }
  const grown = addPrices(prices, added)
  const pricePerParcel = price.map((rank) => grown.rankOfOld?.[rank] ?? rank)
  for (const [i, place] of divided.entries()) pricePerParcel[place] = grown.ranks[i]!
  return { pricePerParcel, pricesPerParcel: grown.prices }
}
