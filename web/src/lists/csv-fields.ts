import { RECORD_FIELDS } from '@landpass/client'
import type { CsvValue } from '@landpass/client/csv'
import type { ListName } from '../state/explore-state.ts'

const { Parcel, Estate, Bid, Contribution, Mortgage } = RECORD_FIELDS

/** Fields that repeat another field under a second name. */
const SECOND_NAMES: readonly string[] = ['publication.type', 'publication.marketplace_id']
/** Fields that the interface answers only when a request asks for them. */
const PROVENANCE: readonly string[] = ['tx_hash', 'log_index', 'contract_address']

/**
 * The columns of each list: the fields of its records in the order in which they are answered. What is for sale may be a
 * parcel or an estate: its offer stands behind the fields of both.
 */
export const CSV_FIELDS: Readonly<Record<ListName, readonly string[]>> = {
  on_sale: [...ownFields(Parcel), ...ownFields(Estate), ...offerFields(Parcel)].filter(isFirst),
  parcels: [...ownFields(Parcel), ...offerFields(Parcel)],
  estates: [...ownFields(Estate), ...offerFields(Estate)],
  bids: Bid.filter((field) => !PROVENANCE.includes(field)),
  contributions: Contribution,
  mortgages: Mortgage,
}

function ownFields(fields: readonly string[]): readonly string[] {
  return fields.filter((field) => !field.startsWith('publication.'))
}

function offerFields(fields: readonly string[]): readonly string[] {
  return fields.filter((field) => field.startsWith('publication.') && !SECOND_NAMES.includes(field))
}

function isFirst(field: string, place: number, fields: readonly string[]): boolean {
  return fields.indexOf(field) === place
}

/** The cells of an object. A list is one cell: texts, or places as `x,y;x,y` as everywhere in the interfaces. */
export function csvRow(fields: readonly string[], item: unknown): readonly CsvValue[] {
  return fields.map((field) => {
    const value = field.split('.').reduce(inner, item)
    return Array.isArray(value) ? value.map(cellPart).join(';') : (value as CsvValue)
  })
}

function cellPart(part: string | { readonly x: number; readonly y: number }): string {
  return typeof part === 'string' ? part : `${part.x},${part.y}`
}

function inner(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Readonly<Record<string, unknown>>)[name]
}
