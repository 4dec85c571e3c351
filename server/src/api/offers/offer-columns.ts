import { plainJson } from '../../land/records/json.ts'
import type { State } from '../../state/state.ts'

/** The offer that answers show for an asset. */
interface ShownOffer {
  /** Row of the parcel or estate. */
  readonly row: number
  /** Number among the open publications. */
  readonly offer: number
}

/** The offers at a time, and the columns of their values. A slow client holds these in memory, not the whole state. */
export interface ShownOffers {
  readonly parcels: readonly ShownOffer[]
  readonly estates: readonly ShownOffer[]
  readonly x: Int32Array
  readonly y: Int32Array
  readonly estateIds: readonly string[]
  /** By number of the offer. */
  readonly price: readonly string[]
  readonly expiresAtMs: Float64Array
}

/** For each asset its newest offer. */
export function shownOffers(state: State, nowMs: number): ShownOffers {
  const { parcels, estates, publications } = state.parts
  return {
    parcels: collect(parcels.offers.first.subarray(0, parcels.inWorld), (row) =>
      state.parcelOffer(row, nowMs),
    ),
    // A dissolved estate, or one outside of the world, has no parcels on a map, even if it has an offer.
    estates: collect(estates.offers.first, (row) =>
      state.isOnMap({ type: 'estate', row }) ? state.estateOffer(row, nowMs) : -1,
    ),
    x: parcels.x,
    y: parcels.y,
    estateIds: estates.ids,
    price: publications.openPrice,
    expiresAtMs: publications.openExpiresAtMs,
  }
}

function collect(first: Int32Array, offerOf: (row: number) => number): ShownOffer[] {
  const shown: ShownOffer[] = []
  for (let row = 0; row < first.length; row++) {
    // Nearly all assets have no offer.
    const offer = first[row]! < 0 ? -1 : offerOf(row)
    if (offer >= 0) shown.push({ row, offer })
  }
  return shown
}

/**
 * The `data` of `/offers`, with one list for each field. An object for each offer would take three times the bytes, and
 * half as many again when compressed.
 *
 * Parcels by x ascending, then y descending; estates by number. Prices are written as their text, with every digit.
 */
export function* offerPieces({ parcels, estates, ...columns }: ShownOffers): Generator<Uint8Array> {
  const price = ({ offer }: ShownOffer) => columns.price[offer]!
  const expiresAt = ({ offer }: ShownOffer) => String(columns.expiresAtMs[offer]!)
  yield Buffer.from(`{"total":${parcels.length + estates.length},"parcels":{"x":`)
  yield* listPieces(parcels, ({ row }) => String(columns.x[row]!))
  yield Buffer.from(',"y":')
  yield* listPieces(parcels, ({ row }) => String(columns.y[row]!))
  yield Buffer.from(',"price":')
  yield* listPieces(parcels, price)
  yield Buffer.from(',"expires_at":')
  yield* listPieces(parcels, expiresAt)
  yield Buffer.from('},"estates":{"id":')
  yield* listPieces(estates, ({ row }) => plainJson(columns.estateIds[row]!))
  yield Buffer.from(',"price":')
  yield* listPieces(estates, price)
  yield Buffer.from(',"expires_at":')
  yield* listPieces(estates, expiresAt)
  yield Buffer.from('}}')
}

/** Values of one piece: some ten kilobytes. */
const PIECE_VALUES = 1024

function* listPieces(
  offers: readonly ShownOffer[],
  write: (offer: ShownOffer) => string,
): Generator<Uint8Array> {
  yield Buffer.from('[')
  for (let from = 0; from < offers.length; from += PIECE_VALUES) {
    const values = offers.slice(from, from + PIECE_VALUES).map(write)
    yield Buffer.from((from === 0 ? '' : ',') + values.join(','))
  }
  yield Buffer.from(']')
}
