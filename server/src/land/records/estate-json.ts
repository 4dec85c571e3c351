import type { Coord } from '@landpass/client/grid'
import type { EstateTable } from '../../db/schema.ts'
import { plainJson } from './json.ts'
import { assetDataJson, NO_PUBLICATION } from './parcel-json.ts'

/**
 * An estate as it is answered, with `"publication":null` at the end (interfaces.md, Estate).
 *
 * @param parcels in the order in which they were added
 */
export function estateJson(row: EstateTable, parcels: readonly Coord[]): string {
  const parcelsJson = parcels.map(({ x, y }) => `{"x":${x},"y":${y}}`).join(',')
  return (
    `{"id":"${row.id}",` +
    `"token_id":"${row.token_id}",` +
    `"owner":"${row.owner}",` +
    `"operator":${plainJson(row.operator)},` +
    `"update_operator":${plainJson(row.update_operator)},` +
    `"data":${assetDataJson(row, `,"parcels":[${parcelsJson}]`)},` +
    `"last_transferred_at":"${row.last_transferred_at_ms}",` +
    `"tx_hash":"${row.tx_hash}",` +
    `"district_id":${plainJson(row.district_id)},` +
    `"publication":${NO_PUBLICATION}`
  )
}
