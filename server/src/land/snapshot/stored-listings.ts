import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { AssetName, AssetType } from '../records/assets.ts'
import type { PublicationTable } from '../records/publication.ts'

/** A listing that a marketplace may store: open, moved, or cancelled for a reason that a snapshot does not say. */
export interface StoredListing
  extends Pick<
    PublicationTable,
    'key' | 'marketplace_address' | 'contract_id' | 'owner' | 'status' | 'closed_by'
  > {
  /** Who holds the token of the asset; null where it does not exist. */
  readonly holder: string | null
}

/** An asset, and its listings that a marketplace may store, oldest first. */
export interface ListedAsset extends AssetName {
  readonly listings: readonly StoredListing[]
}

/** What a listing becomes. */
export type SettledListing = Pick<PublicationTable, 'key' | 'status' | 'closed_by'>

const MAY_BE_STORED = sql<boolean>`publication.trade_id is null and (publication.status = 'open' or publication.closed_by = 'moved'
  or (publication.status = 'cancelled' and publication.closed_by is null))`

/** How many assets have listings that a marketplace may store. */
export async function countListedAssets(db: Db, worldId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (
      select distinct asset_id, asset_type from publication where world_id = ${worldId} and ${MAY_BE_STORED}
    ) as asset`.execute(db)
  return rows[0]!.count
}

/**
 * Assets with listings that a marketplace may store, in the order of their ids.
 *
 * @param after the last asset of the page before; undefined for the first page
 * @param limit assets of a page
 */
export async function readListedAssets(
  db: Db,
  worldId: number,
  { after, limit }: { readonly after: AssetName | undefined; readonly limit: number },
): Promise<readonly ListedAsset[]> {
  const { rows } = await sql<StoredListing & { assetId: string; assetType: AssetType }>`
    with asset as (
      select distinct asset_id, asset_type from publication
      where world_id = ${worldId} and ${MAY_BE_STORED}
        and (asset_id, asset_type) > (${after?.id ?? ''}, ${after?.type ?? ''})
      order by asset_id, asset_type limit ${limit}
    )
    select publication.asset_id as "assetId", publication.asset_type as "assetType", publication.key,
      marketplace_address, contract_id, publication.owner, publication.status, publication.closed_by,
      coalesce(parcel.holder, parcel.owner, estate.holder, estate.owner) as holder
    from asset
    join publication using (asset_id, asset_type)
    left join parcel on parcel.world_id = ${worldId}
      and parcel.x = case when publication.asset_type = 'parcel' then split_part(publication.asset_id, ',', 1)::integer end
      and parcel.y = case when publication.asset_type = 'parcel' then split_part(publication.asset_id, ',', 2)::integer end
    left join estate on publication.asset_type = 'estate' and estate.world_id = ${worldId}
      and estate.id = publication.asset_id
    where publication.world_id = ${worldId} and ${MAY_BE_STORED}
    order by publication.asset_id, publication.asset_type, publication.key`.execute(db)
  const assets: (AssetName & { listings: StoredListing[] })[] = []
  for (const { assetId, assetType, ...listing } of rows) {
    const last = assets.at(-1)
    if (last?.id === assetId && last.type === assetType) last.listings.push(listing)
    else assets.push({ id: assetId, type: assetType, listings: [listing] })
  }
  return assets
}

/**
 * Writes what listings of a world that is not shown yet become. The transactions that closed them are unknown then.
 *
 * @param closedAtMs the time of those that were open: when they were closed is unknown
 */
export async function writeSettledListings(
  db: Db,
  worldId: number,
  { settled, closedAtMs }: { readonly settled: readonly SettledListing[]; readonly closedAtMs: number },
): Promise<void> {
  if (settled.length === 0) return
  await sql`
    update publication set status = settled.status, closed_by = settled.closed_by, closed_tx_hash = null,
      block_time_updated_at_ms = case when settled.status = 'cancelled'
        then coalesce(block_time_updated_at_ms, ${closedAtMs}::bigint) end
    from json_to_recordset(${JSON.stringify(settled)}::json) as settled (key bigint, status text, closed_by text)
    where publication.world_id = ${worldId} and publication.key = settled.key`.execute(db)
}
