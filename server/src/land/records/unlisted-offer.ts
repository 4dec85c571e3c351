import type { AssetType } from './assets.ts'

/** For how long land can be rented, and for how much: the tenant chooses one of them. */
export interface RentalPeriod {
  readonly minDays: number
  readonly maxDays: number
  /** In wei of MANA. */
  readonly pricePerDay: string
}

/**
 * An open offer that is no publication, because its price cannot be compared with theirs: one in dollars, or one to rent. It was signed
 * off the chain, and everybody can accept it.
 */
export interface UnlistedOffer {
  readonly kind: 'dollars' | 'rental'
  readonly assetType: AssetType
  readonly assetId: string
  /** Decimal text: dollars, or MANA for a day of the cheapest period. */
  readonly price: string
  readonly madeAtMs: number
  /** From then on it cannot be accepted. */
  readonly expiresAtMs: number
  /** Keccak-256 of the signature, in hex. */
  readonly hash: string
  /** The periods of a rental offer; else none. */
  readonly periods: readonly RentalPeriod[]
}
