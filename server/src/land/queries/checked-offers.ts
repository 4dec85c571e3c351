import { type RawBuilder, sql } from 'kysely'
import type { SignedTradeTable } from '../../db/schema.ts'
import type { Tx } from '../../db/transaction.ts'
import { assetIndexKey } from '../events/trades.ts'

/** An offer that was signed off the chain, and what logs have said of what ends it. */
export interface CheckedOffer
  extends Pick<
    SignedTradeTable,
    'reading' | 'marketplace' | 'signer' | 'signature_key' | 'asset_type' | 'asset_id'
  > {
  readonly uses: number
  readonly isCancelled: boolean
  readonly isPaused: boolean
  /** Decimal digits, as the next one. */
  readonly contractIndex: string
  readonly signerIndex: string
  /** The index of an offer to rent. */
  readonly assetIndex: number
}

/**
 * The offers that are judged in a world.
 *
 * @param where a condition on `asset_type` and `asset_id`
 */
export async function readCheckedOffers(
  tx: Tx,
  worldId: number,
  where: RawBuilder<boolean>,
): Promise<readonly CheckedOffer[]> {
  const { rows } = await sql<Omit<CheckedOffer, 'assetIndex'>>`
    select trade.reading, trade.marketplace, trade.signer, trade.signature_key, asset_type, asset_id,
      coalesce(uses.uses, 0) as uses, coalesce(uses.is_cancelled, false) as "isCancelled",
      coalesce(of_contract.is_paused, false) as "isPaused", coalesce(of_contract.value, '0') as "contractIndex",
      coalesce(of_signer.value, '0') as "signerIndex"
    from signed_trade as trade join listings_reading on listings_reading.name = trade.reading
      left join trade_signature as uses on uses.world_id = listings_reading.world_id
        and uses.marketplace = trade.marketplace and uses.signer = trade.signer and uses.signature_key = trade.signature_key
      left join trade_index as of_contract on of_contract.world_id = listings_reading.world_id
        and of_contract.marketplace = trade.marketplace and of_contract.signer = ''
      left join trade_index as of_signer on of_signer.world_id = listings_reading.world_id
        and of_signer.marketplace = trade.marketplace and of_signer.signer = trade.signer
    where listings_reading.world_id = ${worldId} and is_signed and ${where}
    order by trade.id`.execute(tx)
  const keys = rows.map(({ reading, asset_type: type, asset_id: id }) =>
    reading === 'rentals' ? assetIndexKey({ type, id }) : '',
  )
  const { rows: indexes } = await sql<{ place: number; uses: number }>`
    select place::integer, uses
    from unnest(${rows.map(({ marketplace }) => marketplace)}::text[], ${rows.map(({ signer }) => signer)}::text[], ${keys}::text[])
        with ordinality as named(marketplace, signer, signature_key, place)
      join trade_signature using (marketplace, signer, signature_key)
    where world_id = ${worldId}`.execute(tx)
  const indexAt = new Map(indexes.map(({ place, uses }) => [place - 1, uses]))
  return rows.map((row, at) => ({ ...row, assetIndex: indexAt.get(at) ?? 0 }))
}
