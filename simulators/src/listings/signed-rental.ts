import { addressOf, signDigest } from '@landpass/server/ethereum/signatures'
import { parseRentalListing, rentalDigest, rentalSeparator } from '@landpass/server/listings/rental-listing'

/** What a lessor offers. Addresses in lower case, times in milliseconds since 1970. */
export interface RentalDraft {
  readonly id: string
  /** The key of the lessor, 32 bytes. */
  readonly key: Uint8Array
  readonly chainId: number
  /** The contract of the rents. */
  readonly rentals: string
  /** Registry of the token. */
  readonly registry: string
  readonly isEstate: boolean
  /** Decimal digits. */
  readonly tokenId: string
  /** Prices in wei of MANA. */
  readonly periods: readonly {
    readonly minDays: number
    readonly maxDays: number
    readonly pricePerDay: string
  }[]
  readonly createdAt: number
  readonly expiration: number
  /** The indexes of the contract, the signer and the asset. */
  readonly indexes?: readonly [number, number, number]
  /** Who alone may accept it. */
  readonly target?: string
}

/** An offer to rent as rentals servers answer it. */
export interface RentalJson {
  readonly id: string
  readonly lessor: string
  readonly signature: string
  readonly status: string
  readonly contractAddress: string
  readonly createdAt: number
}

/** Signs an offer to rent as a wallet does: EIP-712, for one contract of rents of one chain. */
export function signRental(draft: RentalDraft): RentalJson {
  const { id, chainId, rentals, registry, isEstate, tokenId, periods, createdAt, expiration } = draft
  const category = isEstate ? 'estate' : 'parcel'
  const listing = {
    ...{ id, category, tokenId, contractAddress: registry, rentalContractAddress: rentals },
    nftId: `${category}-${registry}-${tokenId}`,
    searchText: '',
    network: 'ETHEREUM',
    chainId,
    ...{ lessor: addressOf(draft.key), tenant: null, status: 'open' },
    signature: `0x${'00'.repeat(65)}`,
    nonces: (draft.indexes ?? [0, 0, 0]).map(String),
    ...{ expiration, createdAt, updatedAt: createdAt, startedAt: null, rentedDays: null },
    periods,
    target: draft.target ?? `0x${'0'.repeat(40)}`,
  }
  const digest = rentalDigest(parseRentalListing(listing), rentalSeparator({ chainId, rentals }))
  const { r, s, v } = signDigest(digest, draft.key)
  return { ...listing, signature: `0x${Buffer.concat([r, s]).toString('hex')}${v.toString(16)}` }
}
