import type { Publication } from '@landpass/client'
import { type OfferState, offerState } from './offer-state.ts'

/**
 * `refused`: signed off the chain, and cannot be accepted now, though it is neither cancelled nor over; `state` of the offer says why.
 */
export type HistoryState = OfferState | 'refused'

/** An offer as the history shows it. */
export interface HistoryRow {
  readonly offer: Publication
  readonly state: HistoryState
  /** MANA; undefined for an offer in dollars. */
  readonly price: number | undefined
}

/**
 * All offers of an asset, the newest first: its publications, and what was signed off the chain and is none.
 *
 * @param offers of `/v2/parcels/:x/:y/offers`, which also has publications that are open
 * @param nowMs milliseconds since 1970
 */
export function historyRows(
  publications: readonly Publication[],
  offers: readonly Publication[],
  nowMs: number,
): readonly HistoryRow[] {
  const published = new Set(publications.map(({ tx_hash }) => tx_hash))
  const signed = offers.filter(
    ({ trade_id, tx_hash, state }) => trade_id && state !== 'used' && !published.has(tx_hash),
  )
  return [
    ...publications.map((offer) => ({ offer, state: offerState(offer, nowMs), price: priceOf(offer) })),
    ...signed.map((offer) => ({ offer, state: signedState(offer), price: priceOf(offer) })),
  ].sort((a, b) => b.offer.block_time_created_at - a.offer.block_time_created_at)
}

/**
 * The offer that stands for an asset, as docs/offers.md has it: of those that can be accepted the cheapest in MANA, and of equal ones
 * the newest; where none is in MANA, the cheapest in dollars.
 *
 * @param offers of `/v2/parcels/:x/:y/offers`
 */
export function findCheapestOffer(offers: readonly Publication[]): Publication | undefined {
  const open = offers.filter(({ state }) => state === 'open')
  const inMana = open.filter(({ currency }) => currency !== 'usd')
  const priceOf = ({ price, price_usd }: Publication) => (inMana.length > 0 ? price : Number(price_usd))
  return (inMana.length > 0 ? inMana : open).sort(
    (a, b) => priceOf(a) - priceOf(b) || b.block_time_created_at - a.block_time_created_at,
  )[0]
}

function signedState({ state }: Publication): HistoryState {
  return state === 'open' || state === 'cancelled' || state === 'expired' ? state : 'refused'
}

function priceOf({ currency, price }: Publication): number | undefined {
  return currency === 'usd' ? undefined : price
}
