import type { AssetType } from '../../land/records/assets.ts'
import type { PublicationTable } from '../../land/records/publication.ts'
import { publicationJson } from '../../land/records/publication.ts'
import { ASSET_TYPE_CODES, STATUS_CODES } from '../parts/parts.ts'

/** What the columns of `PublicationParts` hold of a publication. */
export interface PublicationFacts {
  readonly key: number
  readonly txHash: string
  readonly price: string
  readonly expiresAtMs: number
  /** NaN where the publication was never updated. */
  readonly updatedAtMs: number
  /** Time of the block in which the publication was made. */
  readonly madeAtMs: number
  readonly isSigned: boolean
  /** This and the next two: numbers as in `PublicationParts`. */
  readonly assetType: number
  readonly asset: number
  readonly status: number
  /** Undefined for a closed publication. */
  readonly json: string | undefined
}

/** Finds the row of an asset by its id; -1 where it does not exist. */
export type AssetRowOf = (type: AssetType, id: string) => number

export function publicationFacts(row: PublicationTable, assetRowOf: AssetRowOf): PublicationFacts {
  return {
    key: row.key,
    txHash: row.tx_hash,
    price: row.price,
    expiresAtMs: row.expires_at_ms,
    updatedAtMs: row.block_time_updated_at_ms ?? Number.NaN,
    madeAtMs: row.block_time_created_at_ms,
    isSigned: row.trade_id !== null,
    assetType: ASSET_TYPE_CODES[row.asset_type],
    asset: assetRowOf(row.asset_type, row.asset_id),
    status: STATUS_CODES[row.status],
    json: row.status === 'open' ? publicationJson(row) : undefined,
  }
}
