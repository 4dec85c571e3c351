import { keccak256 } from '../ethereum/keccak256.ts'
import { word } from '../ethereum/words.ts'
import type { Registries } from '../land/records/contracts.ts'
import { type CheckedSignature, checkSignature } from './checked-signature.ts'
import {
  addressIn,
  listIn,
  numberIn,
  OFFER_ID,
  objectIn,
  signatureIn,
  textIn,
  timeIn,
  unfit,
} from './signed-trade.ts'
import { addressWord, hashOfHex, hashOfText } from './trade-digest.ts'

/** An offer to rent land out, signed off the chain, as rentals servers send it. Addresses and hex digits in lower case. */
export interface RentalListing {
  readonly id: string
  /** Who signed it. */
  readonly lessor: string
  /** In hex. */
  readonly signature: string
  /** The contract of the rents that takes it. */
  readonly rentalContract: string
  /** Registry of the token. */
  readonly registry: string
  readonly tokenId: bigint
  /** The last second since 1970 in which it can be accepted. */
  readonly expirationS: bigint
  /** The indexes of the contract, the signer and the asset, when it was signed. */
  readonly indexes: readonly [bigint, bigint, bigint]
  readonly periods: readonly {
    readonly minDays: bigint
    readonly maxDays: bigint
    /** Wei of MANA. */
    readonly pricePerDay: bigint
  }[]
  /** Who alone may accept it; the zero address: everybody. */
  readonly target: string
  /** Milliseconds since 1970. Not signed: the server says so. */
  readonly createdAtMs: number
}

/** The contracts of a network that offers to rent are about. Addresses in lower case. */
export interface RentalContracts {
  readonly chainId: number
  readonly registries: Registries
  readonly rentals: string
}

/** A person chooses one of them. */
const MAX_PERIODS = 100
/** The contract lets nothing for longer: a hundred years. */
const MAX_DAYS = 36_525n
const DOMAIN = hashOfText(
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)',
)
const NAME = hashOfText('Rentals')
const VERSION = hashOfText('1')
const LISTING = hashOfText(
  'Listing(address signer,address contractAddress,uint256 tokenId,uint256 expiration,uint256[3] indexes,uint256[] pricePerDay,uint256[] maxDays,uint256[] minDays,address target)',
)

/**
 * Reads the JSON of an offer to rent. Its signature is not looked at.
 *
 * @throws {UnfitTradeError} where a field is missing or has another form
 */
export function parseRentalListing(json: unknown): RentalListing {
  const listing = objectIn(json, 'rental listing')
  const [contract, signer, asset, ...others] = listIn(listing.nonces, 'nonces').map((one) =>
    numberIn(one, 'nonces'),
  )
  if (contract === undefined || signer === undefined || asset === undefined || others.length > 0)
    return unfit('nonces')
  const periods = listIn(listing.periods, 'periods', MAX_PERIODS).map((one) => {
    const period = objectIn(one, 'periods')
    return {
      minDays: numberIn(period.minDays, 'minDays'),
      maxDays: numberIn(period.maxDays, 'maxDays'),
      pricePerDay: numberIn(period.pricePerDay, 'pricePerDay'),
    }
  })
  if (periods.length === 0) return unfit('periods')
  return {
    id: textIn(listing.id, 'id', OFFER_ID),
    lessor: addressIn(listing.lessor, 'lessor'),
    signature: signatureIn(listing.signature),
    rentalContract: addressIn(listing.rentalContractAddress, 'rentalContractAddress'),
    registry: addressIn(listing.contractAddress, 'contractAddress'),
    tokenId: numberIn(listing.tokenId, 'tokenId'),
    expirationS: BigInt(Math.floor(timeIn(listing.expiration, 'expiration') / 1_000)),
    indexes: [contract, signer, asset],
    periods,
    target: addressIn(listing.target, 'target'),
    createdAtMs: timeIn(listing.createdAt, 'createdAt'),
  }
}

/**
 * The part of a digest that is the same for all offers to a contract of rents: 32 bytes in hex with `0x`.
 *
 * @example
 * rentalSeparator({ chainId: 1, rentals: '0x3a1469499d0be105d4f77045ca403a5f6dc2f3f5' }) // '0x88029a9d…'
 */
export function rentalSeparator({ chainId, rentals }: Pick<RentalContracts, 'chainId' | 'rentals'>): string {
  return `0x${hashOfHex([DOMAIN, NAME, VERSION, word(chainId), addressWord(rentals)])}`
}

/** What the lessor signed (EIP-712): 32 bytes. @param separator see {@link rentalSeparator} */
export function rentalDigest(listing: RentalListing, separator: string): Uint8Array {
  const { lessor, registry, tokenId, expirationS, indexes, periods, target } = listing
  const hash = hashOfHex([
    ...[LISTING, addressWord(lessor), addressWord(registry), word(tokenId), word(expirationS)],
    hashOfHex(indexes.map(word)),
    hashOfHex(periods.map(({ pricePerDay }) => word(pricePerDay))),
    hashOfHex(periods.map(({ maxDays }) => word(maxDays))),
    hashOfHex(periods.map(({ minDays }) => word(minDays))),
    addressWord(target),
  ])
  return keccak256(Buffer.from(`1901${separator.slice(2)}${hash}`, 'hex'))
}

/** Who signed exactly this, and how a lessor that is a contract is asked whether it did. */
export function checkRental(listing: RentalListing, separator: string): CheckedSignature {
  return checkSignature(rentalDigest(listing, separator), {
    signer: listing.lessor,
    signature: listing.signature,
  })
}

/**
 * The periods that a tenant can choose, and for how long: others are signed, too, and the contract refuses them.
 *
 * @example
 * usablePeriods({ periods: [{ minDays: 8n, maxDays: 7n, pricePerDay: 0n }] }) // []
 */
export function usablePeriods({ periods }: Pick<RentalListing, 'periods'>): RentalListing['periods'] {
  return periods
    .map((period) => ({ ...period, maxDays: period.maxDays < MAX_DAYS ? period.maxDays : MAX_DAYS }))
    .filter(({ minDays, maxDays }) => minDays > 0n && minDays <= maxDays)
}
