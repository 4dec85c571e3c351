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

/** Finds the offer of each parcel at a time. An offer of an estate counts for all of its parcels. */
export function openOffersAt({ parcels, estates, publications }: StateParts, nowMs: number): OpenOffers {
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
  const offers = new Int32Array(parcels.estate.length)
  for (let row = 0; row < offers.length; row++) {
    const own = shown(parcels.offers.first[row]!)
    const estate = parcels.estate[row]!
    offers[row] = estate >= 0 && ofEstate[estate]! >= 0 ? ofEstate[estate]! : own
  }
  return { offers, lastExpiryMs, nextExpiryMs }
}
