import { assetOf } from './assets.ts'
import type { Meanings } from './meaning.ts'

/** The contract takes any number of days. A thousand years are enough, and their milliseconds are exact. */
const MAX_DAYS = 365_250n

/** What the contract for rent logs. */
export const RENTAL_FACTS: Meanings<
  'AssetRented' | 'AssetClaimed' | 'AssetIndexUpdated' | 'SignerIndexUpdated' | 'ContractIndexUpdated'
> = {
  AssetRented({ contract, tokenId, lessor, tenant, rentalDays, isExtension }, { network }) {
    const asset = assetOf(network, contract, tokenId)
    if (!asset) return []
    const days = Number(rentalDays < MAX_DAYS ? rentalDays : MAX_DAYS)
    return [{ kind: 'asset-rented', asset, lessor, tenant, days, isExtension }]
  },
  AssetClaimed({ contract, tokenId }, { network }) {
    const asset = assetOf(network, contract, tokenId)
    return asset ? [{ kind: 'rent-ended', asset }] : []
  },
  AssetIndexUpdated({ signer, contract: registry, tokenId, newIndex }, { network, contract }) {
    const asset = assetOf(network, registry, tokenId)
    return asset
      ? [{ kind: 'asset-index-raised', marketplace: contract, signer, asset, index: newIndex }]
      : []
  },
  SignerIndexUpdated: ({ signer, newIndex }, { contract }) => [
    { kind: 'signature-index-raised', marketplace: contract, signer, index: newIndex },
  ],
  ContractIndexUpdated: ({ newIndex }, { contract }) => [
    { kind: 'signature-index-raised', marketplace: contract, signer: null, index: newIndex },
  ],
}
