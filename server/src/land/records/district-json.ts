import type { District } from '../queries/district-queries.ts'
import { arrayJson, textJson } from './json.ts'

/** The districts as they are answered (interfaces.md, District): fields of the table only. */
export function districtListJson(districts: readonly District[]): string {
  return arrayJson(districts.map(districtJson))
}

/** One district of what {@link districtListJson} wrote, or undefined. */
export function findDistrict(listJson: string, id: string): object | undefined {
  return (JSON.parse(listJson) as { readonly id: string }[]).find((district) => district.id === id)
}

function districtJson(district: District): string {
  return (
    `{"id":"${district.id}",` +
    `"name":${textJson(district.name)},` +
    `"description":${textJson(district.description)},` +
    `"link":${textJson(district.link)},` +
    `"public":${district.public},` +
    `"parcel_count":"${district.parcelCount}",` +
    `"center":"${district.center}"}`
  )
}
