import type { StateParts } from './parts.ts'

/** The offers that are shown for parcels, from one expiry until the next one: of an offer or of a rent. */
export interface OpenOffers {
  /** Per parcel the number of the offer that is shown for it, or -1. An offer of its estate goes before its own. */
  readonly offers: Int32Array
  /** When the last shown offer or rent of the whole world expired, 0 if none has. */
  readonly lastExpiryMs: number
  /** When the next one expires: from then on the answers are other ones. */
  readonly nextExpiryMs: number
}

type Source = Pick<StateParts, 'parcels' | 'estates' | 'publications'>

interface Known {
  readonly columns: readonly object[]
  readonly openOffers: OpenOffers
}

/** By the first offers of the parcels. Most blocks change owners and no offer: then states share all columns. */
const known = new WeakMap<Int32Array, Known>()

/**
 * Finds the offer of each parcel at a time. An offer of an estate counts for all of its parcels.
 *
 * @returns an object of its own, which can be compared with that of another state; `offers` is shared where the columns are
 */
export function openOffersAt(source: Source, nowMs: number): OpenOffers {
  const { first } = source.parcels.offers
  const columns = columnsOf(source)
  const latest = known.get(first)
  if (latest && isSame(latest.columns, columns) && isValidAt(latest.openOffers, nowMs))
    return { ...latest.openOffers }
  const openOffers = findOpenOffers(source, nowMs)
  known.set(first, { columns, openOffers })
  return openOffers
}

/** Whether these are the offers at a time: nothing has expired since, and no clock was set back. */
export function isValidAt({ lastExpiryMs, nextExpiryMs }: OpenOffers, nowMs: number): boolean {
  return lastExpiryMs <= nowMs && nowMs < nextExpiryMs
}

/** All that the offers follow from, besides the time. */
function columnsOf({ parcels, estates, publications }: Source): readonly object[] {
  return [
    ...[parcels.estate, parcels.rents, estates.offers.first, estates.rents],
    ...[publications.openExpiresAtMs, publications.openNext],
  ]
}

function isSame(some: readonly object[], others: readonly object[]): boolean {
  return some.every((one, at) => one === others[at])
}

function findOpenOffers({ parcels, estates, publications }: Source, nowMs: number): OpenOffers {
  const { openExpiresAtMs, openNext } = publications
  let lastExpiryMs = 0
  let nextExpiryMs = Number.POSITIVE_INFINITY
  const shown = (first: number): number => {
    for (let offer = first; offer >= 0; offer = openNext[offer]!) {
      const expiresAtMs = openExpiresAtMs[offer]!
      if (expiresAtMs > nowMs) {
        if (expiresAtMs < nextExpiryMs) nextExpiryMs = expiresAtMs
        return offer
      }
      if (expiresAtMs > lastExpiryMs) lastExpiryMs = expiresAtMs
    }
    return -1
  }
  for (const { untilMs } of [parcels.rents, estates.rents]) {
    for (const endMs of untilMs) {
      if (endMs > nowMs) nextExpiryMs = Math.min(nextExpiryMs, endMs)
      else lastExpiryMs = Math.max(lastExpiryMs, endMs)
    }
  }
  const ofEstate = new Int32Array(estates.offers.first.length)
  for (let row = 0; row < ofEstate.length; row++) ofEstate[row] = shown(estates.offers.first[row]!)
  const { estate: estateOf } = parcels
  const { first } = parcels.offers
  const offers = new Int32Array(estateOf.length).fill(-1)
  for (let row = 0; row < offers.length; row++) {
    const estate = estateOf[row]!
    // Most parcels have no offer: no function is called for them.
    if (first[row]! >= 0) offers[row] = shown(first[row]!)
    if (estate >= 0 && ofEstate[estate]! >= 0) offers[row] = ofEstate[estate]!
  }
  return { offers, lastExpiryMs, nextExpiryMs }
}
