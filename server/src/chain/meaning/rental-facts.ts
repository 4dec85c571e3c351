import { assetOf } from './assets.ts'
import type { Meanings } from './meaning.ts'

/** The contract takes any number of days. A thousand years are enough, and their milliseconds are exact. */
const MAX_DAYS = 365_250n

/** What the contract for rent logs. */
export const RENTAL_FACTS: Meanings<'AssetRented' | 'AssetClaimed'> = {
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
}
