import type { PublicationTable } from '../../db/schema.ts'
import { decimalJson, plainJson, textJson } from './json.ts'

/** A publication as it is answered everywhere (interfaces.md, Publication): both names of the renamed pair. */
export function publicationJson(row: PublicationTable): string {
  return (
    `{"tx_hash":"${row.tx_hash}",` +
    `"tx_status":${textJson(row.tx_status)},` +
    `"owner":"${row.owner}",` +
    `"price":${decimalJson(row.price)},` +
    `"expires_at":${row.expires_at_ms},` +
    `"status":"${row.status}",` +
    `"buyer":${plainJson(row.buyer)},` +
    `"contract_id":"${row.contract_id}",` +
    `"block_number":${row.block_number},` +
    `"block_time_created_at":${row.block_time_created_at_ms},` +
    `"block_time_updated_at":${row.block_time_updated_at_ms},` +
    `"asset_id":"${row.asset_id}",` +
    `"asset_type":"${row.asset_type}",` +
    `"type":"${row.asset_type}",` +
    `"marketplace_address":"${row.marketplace_address}",` +
    `"marketplace_id":"${row.marketplace_address}"}`
  )
}
