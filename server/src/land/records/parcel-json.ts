import { coordText } from '@landpass/client/grid'
import type { ParcelTable } from '../../db/schema.ts'
import { decimalJson, plainJson, textJson } from './json.ts'

/** The end of an asset's JSON: what stands here is replaced when the asset is for sale. */
export const NO_PUBLICATION = 'null}'

/**
 * A parcel as it is answered, with `"publication":null` at the end (interfaces.md, Parcel; `in_estate` is derived).
 *
 * @example
 * parcelJson(row) // '{"id":"0,0","x":0,"y":0,…,"publication":null}'
 */
export function parcelJson(row: ParcelTable): string {
  return (
    `{"id":"${coordText(row)}","x":${row.x},"y":${row.y},` +
    `"auction_price":${decimalJson(row.auction_price)},` +
    `"district_id":${plainJson(row.district_id)},` +
    `"owner":${plainJson(row.owner)},` +
    `"operator":${plainJson(row.operator)},` +
    `"update_operator":${plainJson(row.update_operator)},` +
    `"data":${assetDataJson(row)},` +
    `"auction_owner":${plainJson(row.auction_owner)},` +
    `"auction_timestamp":null,` +
    `"tags":${tagsJson(row)},` +
    `"last_transferred_at":${plainJson(row.last_transferred_at_ms)},` +
    `"in_estate":${row.estate_id !== null},` +
    `"estate_id":${plainJson(row.estate_id)},` +
    `"publication":${NO_PUBLICATION}`
  )
}

type AssetData = Pick<ParcelTable, 'data_version' | 'name' | 'description' | 'ipns'>

/** What an owner wrote about the asset; a key that was never written is missing. */
export function assetDataJson({ data_version, name, description, ipns }: AssetData, more = ''): string {
  let json = `{"version":${data_version}`
  if (name !== null) json += `,"name":${textJson(name)}`
  if (description !== null) json += `,"description":${textJson(description)}`
  if (ipns !== null) json += `,"ipns":${textJson(ipns)}`
  return `${json}${more}}`
}

function tagsJson(row: ParcelTable): string {
  const near = [
    proximityJson('plaza', row.plaza_district_id, row.plaza_distance),
    proximityJson('road', row.road_district_id, row.road_distance),
  ].filter((json) => json !== '')
  return near.length === 0 ? '{}' : `{"proximity":{${near.join(',')}}}`
}

function proximityJson(kind: string, districtId: string | null, distance: number | null): string {
  if (districtId === null || distance === null) return ''
  return `"${kind}":{"district_id":"${districtId}","distance":${distance}}`
}
