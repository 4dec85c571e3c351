import { type Coord, coordText, tokenIdText } from '@landpass/client/grid'
import {
  assetDataJson,
  CHAIN_FACTS,
  DATA_CHECKS,
  DATA_COLUMNS,
  DATA_TEXT_CHECKS,
  type DataRow,
  dataProperties,
  GRID_NUMBER,
  publicationOfAsset,
  RIGHTS,
  RUNNING_RENT,
} from './assets.ts'
import * as is from './checks.ts'
import {
  address,
  alwaysNull,
  composed,
  derived,
  estateId,
  hash,
  implied,
  integer,
  isoTime,
  money,
  optional,
  orNull,
  timeMs,
  timeMsDigits,
  uuid,
} from './fields.ts'
import { defineRecord, type Line, type Row } from './record.ts'

const isData = is.object(DATA_CHECKS, DATA_TEXT_CHECKS)
const data = composed({
  check: isData,
  columns: DATA_COLUMNS,
  text: (row: DataRow) => assetDataJson(row),
  schema: (schemas) => schemas.closedObject(dataProperties(schemas), 'What the owner wrote.'),
})

const isProximity = is.object({ district_id: is.isUuid, distance: is.integer(0, 9) })
const isTags = is.object({}, { proximity: is.object({}, { plaza: isProximity, road: isProximity }) })
type Tags = is.Checked<typeof isTags>
/** What is near, and how many parcels away. */
export type Proximity = is.Checked<typeof isProximity>

/** Which plaza and road are near; without either, the tags are empty. */
const tags = composed({
  check: isTags,
  columns: {
    plaza_district_id: ({ proximity }: Tags): string | null => proximity?.plaza?.district_id ?? null,
    plaza_distance: ({ proximity }: Tags): number | null => proximity?.plaza?.distance ?? null,
    road_district_id: ({ proximity }: Tags): string | null => proximity?.road?.district_id ?? null,
    road_distance: ({ proximity }: Tags): number | null => proximity?.road?.distance ?? null,
  },
  text: tagsJson,
  schema: ({ Type, closedObject, uuidText }) => {
    const near = Type.Optional(
      closedObject(
        { district_id: uuidText(), distance: Type.Integer({ minimum: 0 }) },
        'Distance in parcels.',
      ),
    )
    const proximity = Type.Optional(closedObject({ plaza: near, road: near }, 'What is near.'))
    return closedObject({ proximity }, 'May be empty.')
  },
})

interface TagsRow {
  readonly plaza_district_id: string | null
  readonly plaza_distance: number | null
  readonly road_district_id: string | null
  readonly road_distance: number | null
}

function tagsJson(row: TagsRow): string {
  const plaza = proximityJson('plaza', row.plaza_district_id, row.plaza_distance)
  const road = proximityJson('road', row.road_district_id, row.road_distance)
  if (plaza === '' && road === '') return '{}'
  return `{"proximity":{${plaza}${plaza !== '' && road !== '' ? ',' : ''}${road}}}`
}

function proximityJson(kind: string, districtId: string | null, distance: number | null): string {
  if (districtId === null || distance === null) return ''
  return `"${kind}":{"district_id":"${districtId}","distance":${distance}}`
}

export const PARCEL = defineRecord({
  description: 'A piece of land on the grid.',
  fields: {
    id: implied(is.isCoords, {
      text: (row: Coord) => `"${coordText(row)}"`,
      schema: ({ idText }) => idText('x,y'),
    }),
    x: integer(GRID_NUMBER, 'Column.'),
    y: integer(GRID_NUMBER, 'Row.'),
    token_id: implied(is.isTokenId, {
      text: (row: Coord) => `"${tokenIdText(row)}"`,
      schema: ({ digitsText }) => digitsText(),
    }),
    owner: orNull(address('Null for unowned land.')),
    operator: orNull(address()),
    update_operator: orNull(address()),
    data,
    district_id: orNull(uuid()),
    estate_id: orNull(estateId('Estate that holds it.')),
    tags,
    auction_price: orNull(money()),
    auction_owner: orNull(address('Who bought it in the first sale.')),
    auction_timestamp: alwaysNull(),
    last_transferred_at: orNull(timeMsDigits()),
    created_at: isoTime(),
    updated_at: isoTime(),
    /** When it was sold in the second auction, and the log that says so. Of the first auction no log is known. */
    auctioned_at: optional(timeMs()),
    auction_block_number: optional(integer(is.isSafeInteger)),
    auction_tx_hash: optional(hash()),
    auction_log_index: optional(integer(is.isCount)),
    ...RIGHTS,
    ...CHAIN_FACTS,
  },
  places: {
    /** Its place in the district's list of parcels. */
    district_position: (record, _index, lists): number | null =>
      record.district_id === null ? null : lists.positionsOf(record).district,
    /** Its place in the estate's list of parcels, the order in which they were added. */
    estate_position: (record, _index, lists): number | null =>
      record.estate_id === null ? null : lists.positionsOf(record).estate,
  },
  derived: {
    in_estate: derived(
      ({ Type }) => Type.Boolean(),
      (row: { estate_id: string | null }) => String(row.estate_id !== null),
    ),
    ...RUNNING_RENT,
    publication: publicationOfAsset(),
  },
  answer: [
    'id',
    'x',
    'y',
    'auction_price',
    'district_id',
    'owner',
    'operator',
    'update_operator',
    'data',
    'auction_owner',
    'auction_timestamp',
    'tags',
    'last_transferred_at',
    'in_estate',
    'estate_id',
    'approvals_for_all',
    'update_managers',
    'tenant',
    'rented_until',
    'publication',
  ],
  notAnswered: [
    ...['token_id', 'created_at', 'updated_at', 'data_text', 'holder'],
    ...['auctioned_at', 'auction_block_number', 'auction_tx_hash', 'auction_log_index'],
  ] as const,
})

export interface ParcelTable extends Row<typeof PARCEL> {}
/** A parcel as it stands on a line of a snapshot. */
export interface ParcelRecord extends Line<typeof PARCEL> {}

/**
 * A parcel as it is answered, with `"publication":null` at the end (docs/land.md, Parcel; `in_estate` is derived).
 *
 * @example
 * parcelJson(row) // '{"id":"0,0","x":0,"y":0,…,"publication":null}'
 */
export const parcelJson = PARCEL.json
