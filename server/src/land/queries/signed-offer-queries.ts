import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { SignedTradeTable } from '../../db/schema.ts'
import type { AssetName } from '../records/assets.ts'
import { STORED_COLUMNS, type StoredTrade } from '../records/signed-publication.ts'
import type { OfferState } from '../records/statuses.ts'

/** A stored offer whose state is known. */
export interface JudgedTrade extends StoredTrade {
  readonly state: OfferState
  /** Only for an offer to rent: JSON. */
  readonly periods: string | null
}

/**
 * The stored offers to sell an asset of a world, or to rent it, that were signed off the chain, in whatever state there: open ones first, then
 * the newest. None where offers are judged in another world.
 */
export function signedOffersOf(
  db: Db,
  worldId: number,
  asset: AssetName,
  reading: SignedTradeTable['reading'],
): Promise<JudgedTrade[]> {
  return db
    .selectFrom('signed_trade')
    .select([...STORED_COLUMNS, 'periods'])
    .where('reading', '=', reading)
    .where('asset_id', '=', asset.id)
    .where('asset_type', '=', asset.type)
    .where('state', 'is not', null)
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('listings_reading')
          .select('name')
          .where('name', '=', reading)
          .where('world_id', '=', worldId),
      ),
    )
    .$narrowType<{ state: OfferState }>()
    .orderBy(sql`state = 'open'`, 'desc')
    .orderBy('created_at_ms', 'desc')
    .orderBy('id')
    .limit(MOST_OFFERS)
    .execute()
}

/** A marketplace server takes one open offer of a seller for an asset. */
const MOST_OFFERS = 100
