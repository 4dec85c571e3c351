import { SECOND_MS } from '../clock.ts'
import { keccak256 } from '../ethereum/keccak256.ts'
import { isObject } from '../json-object.ts'
import type { NewSignedTrade } from '../land/changes/signed-offers.ts'
import { manaText } from '../land/events/amounts.ts'
import type { RentalPeriod } from '../land/records/unlisted-offer.ts'
import { type NamedOffer, type OfferFeed, storedText } from './offer-feed.ts'
import {
  checkRental,
  parseRentalListing,
  type RentalContracts,
  rentalSeparator,
  rentedAsset,
} from './rental-listing.ts'
import { ListingsError, type ServerClient } from './server-client.ts'

/** Of a page of a list. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024
/** Public servers give no more. */
const PAGE_ROWS = 100
/** With full pages half as many offers as there are parcels. */
const MAX_PAGES = 500
const EVERYBODY = `0x${'0'.repeat(40)}`

/** A public server of offers to rent, or another Landpass: https://signatures-api.decentraland.org for mainnet. */
export class RentalsServer implements OfferFeed {
  readonly name = 'rentals'
  private readonly client: ServerClient
  private readonly contracts: RentalContracts
  private readonly separator: string

  constructor(client: ServerClient, contracts: RentalContracts) {
    this.client = client
    this.contracts = contracts
    this.separator = rentalSeparator(contracts)
  }

  /** The list ends with a page that names nothing new. */
  async *openOffers(): AsyncGenerator<readonly NamedOffer[], void, undefined> {
    const named = new Set<string>()
    let rows = 0
    for (let page = 0; page < MAX_PAGES; page++) {
      const query = { status: 'open', network: 'ETHEREUM', limit: String(PAGE_ROWS), offset: String(rows) }
      const { rows: listings } = await this.client.page('/v1/rentals-listings', query, {
        ...{ maxRows: PAGE_ROWS, maxBytes: MAX_PAGE_BYTES },
        rowsOf: (json) => (isObject(json) && isObject(json.data) ? json.data.results : undefined),
      })
      rows += listings.length
      const isNew = listings.flatMap((json) => {
        const id = isObject(json) ? json.id : undefined
        if (typeof id !== 'string' || id.length > 100 || named.has(id)) return []
        named.add(id)
        return [{ id, json }]
      })
      if (isNew.length === 0) return
      yield isNew
    }
    throw new ListingsError(`the ${this.client.what} names offers without end: ${MAX_PAGES} pages were read`)
  }

  async read({ json }: NamedOffer): Promise<unknown> {
    return json
  }

  rowOf(json: unknown, nowMs: number): NewSignedTrade | undefined {
    const listing = parseRentalListing(json)
    const { rentals, registries } = this.contracts
    const asset = rentedAsset(listing, registries)
    const expiresAtMs = Number(listing.expirationS) * SECOND_MS
    const isForEverybody = listing.target === EVERYBODY
    if (!asset || !isForEverybody || listing.rentalContract !== rentals || expiresAtMs <= nowMs)
      return undefined
    const { isSigned, walletCall } = checkRental(listing, this.separator)
    const signatureHash = `0x${Buffer.from(keccak256(Buffer.from(listing.signature.slice(2), 'hex'))).toString('hex')}`
    const [contractIndex, signerIndex, assetIndex] = listing.indexes
    const periods = listing.periods.map(
      ({ minDays, maxDays, pricePerDay }): RentalPeriod => ({
        ...{ minDays: Number(minDays), maxDays: Number(maxDays), pricePerDay: String(pricePerDay) },
      }),
    )
    const lowest = listing.periods.reduce(
      (least, { pricePerDay }) => (pricePerDay < least ? pricePerDay : least),
      listing.periods[0]!.pricePerDay,
    )
    return {
      id: listing.id,
      reading: this.name,
      trade: storedText(listing),
      marketplace: rentals,
      signer: listing.lessor,
      signature_hash: signatureHash,
      signature_key: signatureHash,
      is_signed: isSigned,
      wallet_call: walletCall,
      asset_type: asset.type,
      asset_id: asset.id,
      currency: 'mana',
      price: manaText(lowest),
      fingerprint: '',
      uses: '1',
      contract_index: String(contractIndex),
      signer_index: String(signerIndex),
      asset_index: String(assetIndex),
      periods: JSON.stringify(periods),
      effective_at_ms: 0,
      expires_at_ms: expiresAtMs,
      created_at_ms: Math.min(listing.createdAtMs, nowMs),
    }
  }
}
