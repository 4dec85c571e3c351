import { encodeTokenId, parseCoord } from '@landpass/client/grid'
import { SECOND_MS } from '../../clock.ts'
import { weiOf } from '../../land/events/amounts.ts'
import type { OpenOrder } from '../../land/queries/source-queries.ts'
import type { Registries } from '../../land/records/contracts.ts'

/** The network, as public servers name it. */
export interface SourceNetwork {
  readonly registries: Registries
  readonly chainId: number
}

/** `GET /v1/orders` of public marketplace servers. All times are in milliseconds, where those have seconds for signed offers. */
export function orderJson(
  { id, tradeId, marketplace, assetType, assetId, owner, price, expiresAtMs, createdAtMs }: OpenOrder,
  { registries, chainId }: SourceNetwork,
) {
  return {
    ...{ id, tradeId, marketplaceAddress: marketplace },
    contractAddress: assetType === 'estate' ? registries.estate : registries.land,
    tokenId: assetType === 'estate' ? assetId : String(encodeTokenId(parseCoord(assetId)!)),
    ...{ owner, buyer: '', price: String(weiOf(price)), status: 'open' },
    ...{ expiresAt: expiresAtMs, createdAt: createdAtMs, updatedAt: createdAtMs },
    ...{ network: 'ETHEREUM', chainId, issuedId: null },
  }
}

/** What was stored of a trade (listings/signed-trade.ts), its numbers as texts. */
interface StoredTradeText {
  readonly id: string
  readonly signer: string
  readonly signature: string
  readonly contract: string
  readonly createdAtMs: number
  readonly checks: {
    readonly uses: string
    readonly expirationS: string
    readonly effectiveS: string
    readonly salt: string
    readonly contractSignatureIndex: string
    readonly signerSignatureIndex: string
    readonly allowedRoot: string
    readonly externalChecks: readonly unknown[]
  }
  readonly sent: readonly StoredAsset[]
  readonly received: readonly (StoredAsset & { readonly beneficiary: string })[]
}

interface StoredAsset {
  readonly assetType: string
  readonly contractAddress: string
  readonly value: string
  readonly extra: string
}

/** How public servers name the value of an asset, by its kind. */
const VALUE_OF_KIND: Readonly<Record<string, string>> = { '1': 'amount', '2': 'amount', '3': 'tokenId' }

/** `GET /v1/trades/:id` of public marketplace servers. */
export function tradeJson(text: string, { chainId }: Pick<SourceNetwork, 'chainId'>) {
  const { createdAtMs: createdAt, checks, sent, received, ...trade } = JSON.parse(text) as StoredTradeText
  const { expirationS, effectiveS, uses, contractSignatureIndex, signerSignatureIndex, ...others } = checks
  const assetJson = ({ assetType, contractAddress, value, extra }: StoredAsset) => ({
    ...{ assetType: Number(assetType), contractAddress, extra },
    [VALUE_OF_KIND[assetType] ?? 'itemId']: value,
  })
  return {
    ...trade,
    ...{ type: 'public_nft_order', network: 'ETHEREUM', chainId, createdAt },
    checks: {
      ...others,
      uses: numberOf(uses),
      expiration: Number(expirationS) * SECOND_MS,
      effective: Number(effectiveS) * SECOND_MS,
      contractSignatureIndex: numberOf(contractSignatureIndex),
      signerSignatureIndex: numberOf(signerSignatureIndex),
    },
    sent: sent.map(assetJson),
    received: received.map((asset) => ({ ...assetJson(asset), beneficiary: asset.beneficiary })),
  }
}

/** What was stored of an offer to rent (listings/rental-listing.ts), its numbers as texts. */
interface StoredRentalText {
  readonly id: string
  readonly lessor: string
  readonly signature: string
  readonly rentalContract: string
  readonly registry: string
  readonly tokenId: string
  readonly expirationS: string
  readonly indexes: readonly string[]
  readonly periods: readonly {
    readonly minDays: string
    readonly maxDays: string
    readonly pricePerDay: string
  }[]
  readonly target: string
  readonly createdAtMs: number
}

/** `GET /v1/rentals-listings` of public servers. */
export function rentalJson(text: string, { registries, chainId }: SourceNetwork) {
  const listing = JSON.parse(text) as StoredRentalText
  const { id, lessor, signature, registry, tokenId, target, createdAtMs, periods } = listing
  const category = registry === registries.estate ? 'estate' : 'parcel'
  return {
    ...{
      id,
      nftId: `${category}-${registry}-${tokenId}`,
      category,
      searchText: '',
      network: 'ETHEREUM',
      chainId,
    },
    ...{ lessor, tenant: null, status: 'open', signature, nonces: listing.indexes, tokenId },
    ...{ contractAddress: registry, rentalContractAddress: listing.rentalContract },
    expiration: Number(listing.expirationS) * SECOND_MS,
    ...{ createdAt: createdAtMs, updatedAt: createdAtMs, startedAt: null, rentedDays: null, target },
    periods: periods.map(({ minDays, maxDays, pricePerDay }) => ({
      ...{ minDays: numberOf(minDays), maxDays: numberOf(maxDays), pricePerDay },
    })),
  }
}

/** A number where JSON has it exactly, else its text. */
function numberOf(digits: string): number | string {
  return Number.isSafeInteger(Number(digits)) ? Number(digits) : digits
}
