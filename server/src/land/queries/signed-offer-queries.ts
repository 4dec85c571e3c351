import type { Db } from '../../db/engine.ts'
import type { SignedTradeTable } from '../../db/schema.ts'
import type { AssetName } from '../records/assets.ts'
import type { OfferState } from '../records/statuses.ts'

/** A stored offer whose state is known. */
export interface JudgedTrade extends SignedTradeTable {
  readonly state: OfferState
}

/** The stored offers of an asset that were signed off the chain, in whatever state, newest first. */
export function signedOffersOf(db: Db, asset: AssetName): Promise<JudgedTrade[]> {
  return db
    .selectFrom('signed_trade')
    .selectAll()
    .where('asset_id', '=', asset.id)
    .where('asset_type', '=', asset.type)
    .where('state', 'is not', null)
    .$narrowType<{ state: OfferState }>()
    .orderBy('created_at_ms', 'desc')
    .orderBy('id')
    .limit(MOST_OFFERS)
    .execute()
}

/** A marketplace server takes one open offer of a seller for an asset. */
const MOST_OFFERS = 100
