import type { SignedTradeTable } from '../../db/schema.ts'
import type { PublicationTable } from './publication.ts'

/** The columns of a stored trade but for its content, which is long. */
export const STORED_COLUMNS = [
  ...[
    'id',
    'reading',
    'marketplace',
    'signer',
    'signature_hash',
    'signature_key',
    'is_signed',
    'asset_type',
    'asset_id',
  ],
  ...[
    'currency',
    'price',
    'fingerprint',
    'uses',
    'contract_index',
    'signer_index',
    'asset_index',
    'effective_at_ms',
  ],
  ...[
    'expires_at_ms',
    'created_at_ms',
    'seen_at_ms',
    'state',
    'state_reason',
    'due_at_ms',
    'wallet_asked_at_ms',
  ],
] as readonly (keyof StoredTrade)[]

/** A stored trade without its content. */
export type StoredTrade = Omit<SignedTradeTable, 'trade' | 'periods' | 'wallet_call'>

/** What a publication has of a trade that no transaction made. */
export function publicationOfTrade(offer: StoredTrade, key: number): Omit<PublicationTable, 'world_id'> {
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
