import { type Coord, coordText } from '@landpass/client/grid'
import * as is from './checks.ts'
import { boolean, coords, derived, implied, link, text, uuid } from './fields.ts'
import { arrayJson, digitsJson, scalarJson } from './json.ts'
import { defineRecord, type Line, type Row } from './record.ts'

export const DISTRICT = defineRecord({
  description: 'A themed area.',
  fields: {
    id: uuid(),
    name: text(),
    description: text(),
    link: link(),
    public: boolean(),
    disabled: boolean(),
    parcel_count: implied(is.isCount, {
      text: (_row: unknown, parcels: readonly Coord[]) => scalarJson(parcels.length),
      schema: ({ Type }) => Type.Integer(),
    }),
    center: coords(),
    parcels: implied(is.arrayOf(is.isCoords), {
      text: (_row: unknown, parcels: readonly Coord[]) => JSON.stringify(parcels.map(coordText)),
      schema: ({ Type }) => Type.Array(Type.String()),
    }),
  },
  places: {
    /** Its place in the snapshot's list. */
    position: (_record, index) => index,
  },
  derived: {
    parcel_count: derived(
      ({ digitsText }) => digitsText(),
      (row: { parcelCount: number }) => digitsJson(row.parcelCount),
    ),
  },
  answer: ['id', 'name', 'description', 'link', 'public', 'parcel_count', 'center'],
  notAnswered: ['disabled', 'parcels'],
})

export interface DistrictTable extends Row<typeof DISTRICT> {}
/** A district as it stands on a line of a snapshot. */
export interface DistrictRecord extends Line<typeof DISTRICT> {}

/** What an answer says of a district. */
export interface District
  extends Pick<DistrictTable, 'id' | 'name' | 'description' | 'link' | 'public' | 'center'> {
  readonly parcelCount: number
}

/** The districts as they are answered (docs/land.md, District): fields of the table only. */
export function districtListJson(districts: readonly District[]): string {
  return arrayJson(districts.map((district) => DISTRICT.json(district)))
}

/** A district as it is answered. */
export interface ListedDistrict {
  readonly id: string
  readonly name: string
  readonly parcel_count: string
  /** `x,y` */
  readonly center: string | null
}

/** One district of what {@link districtListJson} wrote, or undefined. */
export function findDistrict(listJson: string, id: string): ListedDistrict | undefined {
  return (JSON.parse(listJson) as ListedDistrict[]).find((district) => district.id === id)
}
