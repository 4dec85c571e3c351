import type { AssetType } from '../../land/records/assets.ts'
import type { PublicationTable } from '../../land/records/publication.ts'
import { publicationJson } from '../../land/records/publication.ts'
import { ASSET_TYPE_CODES, STATUS_CODES } from '../parts/parts.ts'

/** What the state keeps of a row of the table of publications. */
export interface ListedPublication {
  readonly key: number
  readonly txHash: string
  readonly price: string
  readonly createdAtMs: number
  readonly expiresAtMs: number
  /** NaN where it was never updated. */
  readonly updatedAtMs: number
  /** Time of the block in which it was made. */
  readonly madeAtMs: number
  /** See `PublicationParts` for these three. */
  readonly assetType: number
  readonly asset: number
  readonly status: number
  /** Undefined where it is no longer open. */
  readonly json: string | undefined
}

/** The row of an asset, or -1 where there is none with this id. */
export type AssetRowOf = (type: AssetType, id: string) => number

export function listPublication(row: PublicationTable, assetRowOf: AssetRowOf): ListedPublication {
  return {
    key: row.key,
    txHash: row.tx_hash,
    price: row.price,
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms,
    updatedAtMs: row.block_time_updated_at_ms ?? Number.NaN,
    madeAtMs: row.block_time_created_at_ms,
    assetType: ASSET_TYPE_CODES[row.asset_type],
    asset: assetRowOf(row.asset_type, row.asset_id),
    status: STATUS_CODES[row.status],
    json: row.status === 'open' ? publicationJson(row) : undefined,
  }
}
