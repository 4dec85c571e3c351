import type { Coord } from '@landpass/client/grid'
import type * as schemaParts from '../../schema-parts.ts'
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
  composed,
  coordList,
  estateId,
  hash,
  isoTime,
  optional,
  orNull,
  timeMsDigits,
  uuid,
} from './fields.ts'
import { defineRecord, type Line, type Row } from './record.ts'

const isData = is.object(
  { ...DATA_CHECKS, parcels: is.arrayOf(is.object({ x: GRID_NUMBER, y: GRID_NUMBER })) },
  DATA_TEXT_CHECKS,
)

/** What the owner wrote, and the parcels in the order in which they were added: those stand in their own rows. */
const data = composed({
  check: isData,
  columns: DATA_COLUMNS,
  text: (row: DataRow, parcels: readonly Coord[]) => {
    const parcelsJson = parcels.map(({ x, y }) => `{"x":${x},"y":${y}}`).join(',')
    return assetDataJson(row, `,"parcels":[${parcelsJson}]`)
  },
  schema: (schemas) => {
    const { Type, closedObject } = schemas
    const coord = closedObject({ x: Type.Integer(), y: Type.Integer() }, 'A parcel of the estate.')
    return closedObject(
      { ...dataProperties(schemas), parcels: Type.Array(coord) },
      'What the owner wrote, and the parcels in the order in which they were added.',
    )
  },
})

export const ESTATE = defineRecord({
  description: 'A group of adjacent parcels.',
  fields: {
    /** Decimal digits; ordered as a number. */
    id: estateId('Decimal digits.'),
    tx_hash: hash(),
    token_id: { ...estateId(''), schema: ({ digitsText }: typeof schemaParts) => digitsText() },
    owner: address(),
    operator: orNull(address()),
    update_operator: orNull(address()),
    data,
    last_transferred_at: timeMsDigits(),
    district_id: { ...orNull(uuid()), check: is.isNull },
    created_at: isoTime(),
    updated_at: isoTime(),
    ...RIGHTS,
    ...CHAIN_FACTS,
    /** What the contract computes from the estate and its parcels. Null where it is unknown: the rules compute it from the parcels. */
    fingerprint: optional(hash("What the contract computes from the estate's parcels.")),
    /**
     * The order in which the registry keeps the parcels: when one leaves, the last one takes its place. Null where it is the order in
     * which they were added. The second fingerprint is made of it.
     */
    registry_order: optional(
      coordList('The order in which the registry keeps the parcels, where it is not that of data.parcels.'),
    ),
  },
  places: {},
  derived: { ...RUNNING_RENT, publication: publicationOfAsset() },
  answer: [
    'id',
    'token_id',
    'owner',
    'operator',
    'update_operator',
    'data',
    'last_transferred_at',
    'tx_hash',
    'district_id',
    'approvals_for_all',
    'update_managers',
    'tenant',
    'rented_until',
    'publication',
  ],
  notAnswered: ['created_at', 'updated_at', 'data_text', 'holder', 'fingerprint', 'registry_order'],
})

export interface EstateTable extends Row<typeof ESTATE> {}
/** An estate as it stands on a line of a snapshot. */
export interface EstateRecord extends Line<typeof ESTATE> {}

/**
 * An estate as it is answered, with `"publication":null` at the end (docs/land.md, Estate). Its second argument are
 * its parcels, in the order in which they were added.
 */
export const estateJson = ESTATE.json
