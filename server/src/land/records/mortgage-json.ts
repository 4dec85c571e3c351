import type { MortgageTable } from '../../db/schema.ts'
import { decimalJson, isoJson, plainJson, textJson } from './json.ts'

/** A mortgage as it is answered (interfaces.md, Mortgage). `is_due_at` and `payable_at` are seconds. */
export function mortgageJson(row: MortgageTable): string {
  return (
    `{"tx_hash":"${row.tx_hash}",` +
    `"tx_status":${textJson(row.tx_status)},` +
    `"block_number":${row.block_number},` +
    `"status":"${row.status}",` +
    `"asset_id":"${row.asset_id}",` +
    `"asset_type":"${row.asset_type}",` +
    `"borrower":"${row.borrower}",` +
    `"lender":${plainJson(row.lender)},` +
    `"loan_id":${row.loan_id},` +
    `"mortgage_id":${row.mortgage_id},` +
    `"amount":${decimalJson(row.amount)},` +
    `"is_due_at":"${row.is_due_at_s}",` +
    `"expires_at":"${row.expires_at_ms}",` +
    `"block_time_created_at":"${row.block_time_created_at_ms}",` +
    `"block_time_updated_at":${plainJson(row.block_time_updated_at_ms)},` +
    `"created_at":${isoJson(row.created_at_ms)},` +
    `"updated_at":${isoJson(row.updated_at_ms)},` +
    `"outstanding_amount":${decimalJson(row.outstanding_amount)},` +
    `"payable_at":"${row.payable_at_s}",` +
    `"interest_rate":${row.interest_rate},` +
    `"punitory_interest_rate":${row.punitory_interest_rate},` +
    `"paid":${decimalJson(row.paid)},` +
    `"started_at":${plainJson(row.started_at_ms)}}`
  )
}
