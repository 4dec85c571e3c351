import type { StateParts } from './parts.ts'

/** What is for sale during a while: from its last expiry on, until the next one. */
export interface Sales {
  /** Per parcel, the number of the open offer that is shown for it, or -1: its estate's before its own. */
  readonly offers: Int32Array
  /** The last time when a shown offer of the whole world expired, 0 if none did. */
  readonly lastExpiryMs: number
  /** From then on these sales are no longer right. */
  readonly nextExpiryMs: number
}

/** Collects what is for sale at a time, for each parcel: a parcel of an estate for sale is for sale with it. */
export function salesAt({ parcels, estates, publications }: StateParts, nowMs: number): Sales {
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
