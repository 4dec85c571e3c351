import { SECOND_MS } from '../clock.ts'
import { isObject } from '../json-object.ts'
import type { NewSignedTrade } from '../land/changes/signed-offers.ts'
import { manaText } from '../land/events/amounts.ts'
import type { RentalPeriod } from '../land/records/unlisted-offer.ts'
import { type NamedOffer, type OfferFeed, storedText } from './offer-feed.ts'
import { offeredAsset } from './offered-asset.ts'
import {
  checkRental,
  parseRentalListing,
  type RentalContracts,
  rentalSeparator,
  usablePeriods,
} from './rental-listing.ts'
import type { ServerClient } from './server-client.ts'
import { isOfferId } from './signed-trade.ts'

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

  openOffers(): AsyncGenerator<readonly NamedOffer[], void, undefined> {
    return this.client.list('/v1/rentals-listings', {
      ...{ pageRows: PAGE_ROWS, maxPages: MAX_PAGES },
      queryOf: (skipped) => ({
        ...{ status: 'open', network: 'ETHEREUM', limit: String(PAGE_ROWS), offset: String(skipped) },
      }),
      rowsOf: (json) => (isObject(json) && isObject(json.data) ? json.data.results : undefined),
      nameOf: (json) => (isObject(json) && isOfferId(json.id) ? { id: json.id, json } : undefined),
    })
  }

  async read({ json }: NamedOffer): Promise<unknown> {
    return json
  }

  rowOf(json: unknown, nowMs: number): NewSignedTrade | undefined {
    const listing = parseRentalListing(json)
    const { rentals, registries } = this.contracts
    const asset = offeredAsset(registries, listing.registry, listing.tokenId)
    const periods = usablePeriods(listing)
    const expiresAtMs = Number(listing.expirationS) * SECOND_MS
    const isForEverybody = listing.target === EVERYBODY && listing.rentalContract === rentals
    if (!asset || !isForEverybody || periods.length === 0 || expiresAtMs <= nowMs) return undefined
    const { isSigned, walletCall, signatureHash } = checkRental(listing, this.separator)
    const [contractIndex, signerIndex, assetIndex] = listing.indexes
    const prices = periods.map(({ pricePerDay }) => pricePerDay)
    const lowest = prices.reduce((least, price) => (price < least ? price : least))
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
      periods: JSON.stringify(
        periods.map(
          ({ minDays, maxDays, pricePerDay }): RentalPeriod => ({
            ...{ minDays: Number(minDays), maxDays: Number(maxDays), pricePerDay: String(pricePerDay) },
          }),
        ),
      ),
      effective_at_ms: 0,
      expires_at_ms: expiresAtMs,
      created_at_ms: Math.min(listing.createdAtMs, nowMs),
    }
  }
}
