import type { BidTable } from '../../db/schema.ts'
import { decimalJson, isoJson, plainJson } from './json.ts'

/**
 * A bid as it is answered (interfaces.md, Bid).
 *
 * @param sanitize false adds where on the chain the bid was found
 */
export function bidJson(row: BidTable, { sanitize }: { readonly sanitize: boolean }): string {
  const provenance = sanitize
    ? ''
    : `,"tx_hash":${plainJson(row.tx_hash)},"log_index":${row.log_index},` +
      `"contract_address":${plainJson(row.contract_address)}`
  return (
    `{"id":"${row.id}",` +
    `"token_address":"${row.token_address}",` +
    `"token_id":"${row.token_id}",` +
    `"bidder":"${row.bidder}",` +
    `"seller":"${row.seller}",` +
    `"price":${decimalJson(row.price)},` +
    `"expires_at":"${row.expires_at_ms}",` +
    `"fingerprint":"${row.fingerprint}",` +
    `"status":"${row.status}",` +
    `"asset_id":"${row.asset_id}",` +
    `"asset_type":"${row.asset_type}",` +
    `"block_number":${row.block_number},` +
    `"block_time_created_at":"${row.block_time_created_at_ms}",` +
    `"block_time_updated_at":"${row.block_time_updated_at_ms}",` +
    `"created_at":${isoJson(row.created_at_ms)},` +
    `"updated_at":${isoJson(row.updated_at_ms)}${provenance}}`
  )
}
