import type { Db } from '../../db/engine.ts'
import type { AssetName } from '../records/assets.ts'
import type { MortgageStatus, MortgageTable } from '../records/mortgage.ts'

export interface MortgageFilter {
  readonly statuses?: readonly MortgageStatus[] | undefined
  readonly borrower?: string
  readonly asset?: AssetName
}

/** Newest first; those of one block in reverse order of creation. */
export async function findMortgages(
  db: Db,
  worldId: number,
  filter: MortgageFilter,
): Promise<MortgageTable[]> {
  const { statuses, borrower, asset } = filter
  return db
    .selectFrom('mortgage')
    .selectAll()
    .where('world_id', '=', worldId)
    .$if(statuses !== undefined, (query) => query.where('status', 'in', statuses ?? []))
    .$if(borrower !== undefined, (query) => query.where('borrower', '=', borrower ?? ''))
    .$if(asset !== undefined, (query) =>
      query.where('asset_id', '=', asset?.id ?? '').where('asset_type', '=', asset?.type ?? 'parcel'),
    )
    .orderBy('block_time_created_at_ms', 'desc')
    .orderBy('key', 'desc')
    .execute()
}
