import { plainJson } from '../../land/records/json.ts'
import { type CheapestOffers, cheapestOffersAt } from '../../state/parts/cheapest-offers.ts'
import { type LandAssets, landAssetsOf } from '../../state/parts/land-assets.ts'
import type { State } from '../../state/state.ts'

/** The offers at a time, and the columns of their values. A slow client holds these in memory, not the whole state. */
export interface ShownOffers {
  readonly assets: LandAssets
  readonly offers: CheapestOffers
  readonly estateIds: readonly string[]
}

/** The offer that stands for each asset: docs/offers.md. */
export function shownOffers({ parts }: State, nowMs: number): ShownOffers {
  const assets = landAssetsOf(parts)
  return { assets, offers: cheapestOffersAt(parts, assets, nowMs), estateIds: parts.estates.ids }
}

/**
 * The `data` of `/offers`, with one list for each field. An object for each offer would take three times the bytes, and
 * half as many again when compressed.
 *
 * Parcels by x ascending, then y descending; estates by number. Prices are written as their text, with every digit.
 */
export function* offerPieces({ assets, offers, estateIds }: ShownOffers): Generator<Uint8Array> {
  const total = offers.assets.length
  const firstParcel = offers.assets.findIndex((asset) => asset >= assets.estates)
  const ofEstates = { from: 0, to: firstParcel < 0 ? total : firstParcel }
  const ofParcels = { from: ofEstates.to, to: total }
  const price = (place: number) => offers.prices[offers.price[place]!]!
  const expiresAt = (place: number) => String(offers.expiresAtMs[place]!)
  yield Buffer.from(`{"total":${total},"parcels":{"x":`)
  yield* listPieces(ofParcels, (place) => String(assets.x[offers.assets[place]!]!))
  yield Buffer.from(',"y":')
  yield* listPieces(ofParcels, (place) => String(assets.y[offers.assets[place]!]!))
  yield Buffer.from(',"price":')
  yield* listPieces(ofParcels, price)
  yield Buffer.from(',"expires_at":')
  yield* listPieces(ofParcels, expiresAt)
  yield Buffer.from('},"estates":{"id":')
  yield* listPieces(ofEstates, (place) => plainJson(estateIds[offers.assets[place]!]!))
  yield Buffer.from(',"price":')
  yield* listPieces(ofEstates, price)
  yield Buffer.from(',"expires_at":')
  yield* listPieces(ofEstates, expiresAt)
  yield Buffer.from('}}')
}

/** Values of one piece: some ten kilobytes. */
const PIECE_VALUES = 1024

function* listPieces(
  { from, to }: { readonly from: number; readonly to: number },
  write: (place: number) => string,
): Generator<Uint8Array> {
  yield Buffer.from('[')
  for (let start = from; start < to; start += PIECE_VALUES) {
    const length = Math.min(PIECE_VALUES, to - start)
    const values = Array.from({ length }, (_, i) => write(start + i))
    yield Buffer.from((start === from ? '' : ',') + values.join(','))
  }
  yield Buffer.from(']')
}
