import { RECORD_FIELDS } from '@landpass/client'
import type { CsvValue } from '@landpass/client/csv'
import { parseCoord } from '@landpass/client/grid'
import type { AddressListName } from '../state/explore-state.ts'

const { Parcel, Estate, Bid, Contribution, Mortgage } = RECORD_FIELDS

/** Fields that repeat another field under a second name. */
const SECOND_NAMES: readonly string[] = ['publication.type', 'publication.marketplace_id']
/** Fields that the interface answers only when a request asks for them. */
const PROVENANCE: readonly string[] = ['tx_hash', 'log_index', 'contract_address']

const PLACE_FIELDS: readonly string[] = ['x', 'y', 'estate_id']

/**
 * The columns of each list of an address: the fields of its records in the order in which they are answered. The server writes
 * the file of found land.
 */
export const CSV_FIELDS: Readonly<Record<AddressListName, readonly string[]>> = {
  parcels: [...ownFields(Parcel), ...offerFields(Parcel)],
  estates: [...ownFields(Estate), ...offerFields(Estate)],
  bids: withPlace(Bid.filter((field) => !PROVENANCE.includes(field))),
  contributions: Contribution,
  mortgages: withPlace(Mortgage),
}

/** Where the land is stands behind its id: a spreadsheet cannot calculate with `-38,128`. */
function withPlace(fields: readonly string[]): readonly string[] {
  return fields.flatMap((field) => (field === 'asset_id' ? [field, ...PLACE_FIELDS] : field))
}

function ownFields(fields: readonly string[]): readonly string[] {
  return fields.filter((field) => !field.startsWith('publication.'))
}

function offerFields(fields: readonly string[]): readonly string[] {
  return fields.filter((field) => field.startsWith('publication.') && !SECOND_NAMES.includes(field))
}

/** The cells of an object. A list is one cell: texts, or places as `x,y;x,y` as everywhere in the interfaces. */
export function csvRow(fields: readonly string[], item: unknown): readonly CsvValue[] {
  const place = placeOf(item)
  return fields.map((field) => {
    const value = field.split('.').reduce(inner, item) ?? inner(place, field)
    return Array.isArray(value) ? value.map(cellPart).join(';') : (value as CsvValue)
  })
}

/** {@link PLACE_FIELDS} of the asset that a row or its offer names. */
function placeOf(item: unknown): unknown {
  const id = inner(item, 'asset_id')
  if (typeof id !== 'string') return item === undefined ? undefined : placeOf(inner(item, 'publication'))
  return inner(item, 'asset_type') === 'estate' ? { estate_id: id } : parseCoord(id)
}

function cellPart(part: string | { readonly x: number; readonly y: number }): string {
  return typeof part === 'string' ? part : `${part.x},${part.y}`
}

function inner(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Readonly<Record<string, unknown>>)[name]
}
