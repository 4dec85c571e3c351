import type { SignedTradeTable } from '../../db/schema.ts'
import type { PublicationTable } from './publication.ts'

/** What a publication has of a trade that no transaction made. */
export function publicationOfTrade(offer: SignedTradeTable, key: number): Omit<PublicationTable, 'world_id'> {
  return {
    key,
    tx_hash: offer.signature_hash,
    tx_status: 'confirmed',
    owner: offer.signer,
    price: offer.price,
    expires_at_ms: offer.expires_at_ms,
    status: 'open',
    buyer: null,
    contract_id: offer.signature_hash,
    block_number: 0,
    block_time_created_at_ms: offer.created_at_ms,
    block_time_updated_at_ms: null,
    asset_id: offer.asset_id,
    asset_type: offer.asset_type,
    marketplace_address: offer.marketplace,
    created_at_ms: offer.created_at_ms,
    updated_at_ms: offer.created_at_ms,
    log_index: null,
    closed_by: null,
    closed_tx_hash: null,
    trade_id: offer.id,
    sold_size: null,
    sold_source: null,
    sold_block_number: null,
    sold_log_index: null,
  }
}
