import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { UnlistedOffer } from '../records/unlisted-offer.ts'

/** The open offers of a world that are no publications, where signed offers are shown. */
export async function readUnlistedOffers(db: Db, worldId: number): Promise<readonly UnlistedOffer[]> {
  const { rows } = await sql<{ offers: readonly UnlistedOffer[] }>`
    select ${unlistedOffers(worldId, sql`true`)} as offers`.execute(db)
  return rows[0]!.offers
}

/**
 * Some of these offers as one value in JSON, in no particular order, for a statement that reads other rows too.
 *
 * @param where a condition on `signed_trade`
 */
export function unlistedOffers(
  worldId: number,
  where: RawBuilder<unknown>,
): RawBuilder<readonly UnlistedOffer[]> {
  return sql`(select coalesce(json_agg(json_build_object(
      'kind', case when reading = 'rentals' then 'rental' else 'dollars' end,
      'assetType', asset_type, 'assetId', asset_id, 'price', price::text, 'madeAtMs', created_at_ms,
      'expiresAtMs', expires_at_ms, 'hash', signature_hash, 'periods', coalesce(periods, '[]')::json
    )), '[]')
    from signed_trade join listings_reading on listings_reading.name = reading
    where world_id = ${worldId} and is_shown and signed_trade.state = 'open'
      and (reading = 'rentals' or currency = 'usd') and ${where})`
}
