import { coordText, decodeTokenId } from '@landpass/client/grid'
import type { AssetName } from '../land/records/assets.ts'
import type { Registries } from '../land/records/contracts.ts'

/** The parcel or estate that a token is; undefined for other tokens. */
export function offeredAsset(
  { land, estate }: Registries,
  registry: string,
  tokenId: bigint,
): AssetName | undefined {
  if (registry === estate && tokenId > 0n) return { type: 'estate', id: String(tokenId) }
  const parcel = registry === land ? decodeTokenId(tokenId) : undefined
  return parcel && { type: 'parcel', id: coordText(parcel) }
}
