import type { ReadingName } from '../land/changes/listings-reading.ts'
import type { NewSignedTrade } from '../land/changes/signed-offers.ts'

/** An offer that a list of a server names. */
export interface NamedOffer {
  readonly id: string
  /** All of it, where the list has that. */
  readonly json?: unknown
}

/** A server that offers are read from. */
export interface OfferFeed {
  readonly name: ReadingName
  /** The open offers, page by page. Each id comes once. @throws {ListingsError} */
  openOffers(): AsyncGenerator<readonly NamedOffer[], void, undefined>
  /** All of an offer; undefined where the server has none of this name, or cannot say. @throws {ListingsError} */
  read(offer: NamedOffer): Promise<unknown>
  /**
   * What is stored of an offer. Nobody signed when it was made, so that it cannot be later than now.
   *
   * @returns undefined for what is no offer of land to everybody, or has expired
   * @throws {UnfitTradeError} for what does not have the form of an offer
   */
  rowOf(json: unknown, nowMs: number): NewSignedTrade | undefined
}

/** The checked fields of an offer as they are stored: JSON, with numbers of up to 256 bits as texts. */
export function storedText(offer: object): string {
  return JSON.stringify(offer, (_, value) => (typeof value === 'bigint' ? String(value) : value))
}
