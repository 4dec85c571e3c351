import type { Coord } from '@landpass/client/grid'
import type { AssetName } from '../records/assets.ts'

/** Where on the chain an event was logged. Its identity is the block and the log index. */
export interface LogPlace {
  readonly blockNumber: number
  /** Time of the block, in milliseconds since 1970. */
  readonly timeMs: number
  readonly txHash: string
  /** Position of the log in its block. */
  readonly logIndex: number
}

/** The registry whose tokens a right is about: the parcels or the estates of an owner. */
export type Registry = AssetName['type']

/**
 * What happened to the land, in the words of the land and not in those of tables or contracts. Addresses are in lower
 * case; null is nobody (the zero address on the chain). Amounts are in wei, as exact integers.
 */
export type LandEvent = { readonly at: LogPlace } & LandFact

export type LandFact = AssetFact | RightFact | EstateFact | ListingFact | BidFact | MortgageFact | TradeFact

/** What happens to a parcel or an estate alike. */
export type AssetFact =
  | {
      readonly kind: 'asset-transferred'
      readonly asset: AssetName
      readonly from: string | null
      readonly to: string | null
    }
  /** `text` is what the owner wrote, byte for byte: it may be anything (chain-facts, section 5). */
  | { readonly kind: 'asset-described'; readonly asset: AssetName; readonly text: Uint8Array }
  | { readonly kind: 'operator-set'; readonly asset: AssetName; readonly operator: string | null }
  | { readonly kind: 'update-operator-set'; readonly asset: AssetName; readonly operator: string | null }
  | {
      readonly kind: 'asset-rented'
      readonly asset: AssetName
      readonly lessor: string
      readonly tenant: string
      /** How long, from the time of the block; an extension adds to the end of the rent that runs. */
      readonly days: number
      readonly isExtension: boolean
    }
  | { readonly kind: 'rent-ended'; readonly asset: AssetName }
  /** Sold in an auction by the project. Amount in wei of MANA for each parcel. */
  | {
      readonly kind: 'parcels-auctioned'
      readonly parcels: readonly Coord[]
      readonly buyer: string
      readonly priceWei: bigint
    }

/** Rights over all land of an owner. */
export type RightFact = {
  readonly kind: 'approval-for-all-set' | 'update-manager-set'
  readonly registry: Registry
  readonly owner: string
  readonly operator: string
  readonly isApproved: boolean
}

export type EstateFact =
  | {
      readonly kind: 'estate-created'
      readonly estateId: string
      readonly owner: string | null
      readonly text: Uint8Array
    }
  | {
      readonly kind: 'parcel-joined-estate' | 'parcel-left-estate'
      readonly estateId: string
      readonly parcel: Coord
    }

/** An offer for sale in a marketplace contract, which keeps one for each asset. */
interface Listing {
  readonly asset: AssetName
  /** Contract of the marketplace. */
  readonly marketplace: string
  /** 32 bytes, in hex; not unique. */
  readonly contractId: string
}

export type ListingFact =
  | (Listing & {
      readonly kind: 'listing-opened'
      readonly seller: string
      readonly priceWei: bigint
      /** As the seller sent it: seconds, or milliseconds above 10^12. Up to 256 bits. */
      readonly expiresAt: bigint
    })
  | (Listing & {
      readonly kind: 'listing-sold'
      readonly seller: string
      readonly buyer: string
      readonly priceWei: bigint
    })
  | (Listing & { readonly kind: 'listing-cancelled' })

interface Bid {
  readonly asset: AssetName
  /** Contract of the bids. */
  readonly contract: string
  /** 32 bytes, in hex. */
  readonly bidId: string
  readonly bidder: string
}

export type BidFact =
  | (Bid & {
      readonly kind: 'bid-placed'
      /** Contract and decimal digits of the token. */
      readonly tokenAddress: string
      readonly tokenId: string
      readonly priceWei: bigint
      /** Seconds since 1970. Up to 256 bits. */
      readonly expiresAtS: bigint
      /** Hex, `0x` for parcels. */
      readonly fingerprint: string
    })
  | (Bid & { readonly kind: 'bid-accepted'; readonly seller: string; readonly priceWei: bigint })
  | (Bid & { readonly kind: 'bid-cancelled' })

/** Mortgages are named by their own number, payments and lenders by the number of their loan. */
export type MortgageFact =
  | {
      readonly kind: 'mortgage-requested'
      readonly mortgageId: bigint
      readonly loanId: bigint
      readonly borrower: string
      readonly parcel: Coord
    }
  | {
      readonly kind: 'mortgage-started' | 'mortgage-cancelled' | 'mortgage-claimed' | 'mortgage-defaulted'
      readonly mortgageId: bigint
    }
  | { readonly kind: 'loan-lent'; readonly loanId: bigint; readonly lender: string }
  | { readonly kind: 'loan-transferred'; readonly loanId: bigint; readonly to: string | null }
  | { readonly kind: 'loan-partly-paid'; readonly loanId: bigint; readonly amountWei: bigint }
  /** Paid in full, or pardoned by the lender: the borrower can claim the parcel. */
  | { readonly kind: 'loan-paid' | 'loan-pardoned'; readonly loanId: bigint }
  /** Terms never change after a loan was created; no log has them, they are read from the contract. */
  | { readonly kind: 'loan-terms-read'; readonly loanId: bigint; readonly terms: LoanTerms }

/** As the loan contract answers; up to 256 bits each. */
export interface LoanTerms {
  readonly amountWei: bigint
  readonly interestRate: bigint
  readonly punitoryInterestRate: bigint
  /** Length of the loan, in seconds from its start. */
  readonly duesInS: bigint
  /** Seconds after the start from which it may be paid back early. */
  readonly cancelableAtS: bigint
  /** Until when the request is good, as the borrower sent it: seconds, or milliseconds above 10^12. */
  readonly expiresAt: bigint
}

/** Offers that are signed off the chain: only what the chain tells of them. */
export type TradeFact =
  | {
      readonly kind: 'asset-traded'
      readonly asset: AssetName
      /** Contract that settled the trade. */
      readonly marketplace: string
      /** Hash of the signature, 32 bytes in hex. */
      readonly contractId: string
      readonly seller: string
      readonly buyer: string
      /** Null for a swap or a gift. Of a trade with several assets it is the whole price. */
      readonly priceWei: bigint | null
      /** Number of assets that the price is for. */
      readonly assets: number
      /** Whether the signed offer was an offer for sale or a bid. */
      readonly offer: 'sale' | 'bid'
    }
  /** Counts as a cancellation only if `by` signed the trade. */
  | {
      readonly kind: 'signature-cancelled'
      readonly marketplace: string
      readonly by: string
      /** 32 bytes in hex. */
      readonly signatureKey: string
    }
  /** One more use of a signed trade. */
  | {
      readonly kind: 'signature-used'
      readonly marketplace: string
      readonly signer: string
      readonly signatureKey: string
    }
  /** `signer` is null where it is the index of the whole contract. */
  | {
      readonly kind: 'signature-index-raised'
      readonly marketplace: string
      readonly signer: string | null
      readonly index: bigint
    }
  /** Offers of the signer to rent out the asset that were signed with another index are void. */
  | {
      readonly kind: 'asset-index-raised'
      /** The contract of the rents. */
      readonly marketplace: string
      readonly signer: string
      readonly asset: AssetName
      readonly index: bigint
    }
  /** While it is paused, a marketplace settles no trade. */
  | { readonly kind: 'marketplace-paused'; readonly marketplace: string; readonly isPaused: boolean }
