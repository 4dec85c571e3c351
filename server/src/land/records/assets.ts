import type { AssetType } from '../../db/schema.ts'

/** A parcel or an estate, by the name that offers and bids use for it. */
export interface AssetName {
  readonly type: AssetType
  readonly id: string
}

/**
 * What an id stands for. Only parcels have a comma in theirs.
 *
 * @example
 * findAsset('10,-3', undefined) // { type: 'parcel', id: '10,-3' }
 */
export function findAsset(id: string, type: AssetType | undefined): AssetName {
  return { type: type ?? (id.includes(',') ? 'parcel' : 'estate'), id }
}
