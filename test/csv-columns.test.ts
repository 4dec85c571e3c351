import { readFileSync } from 'node:fs'
import { pageModule } from '@landpass/server/test/support/pages/page-modules'
import { expect, test } from 'vitest'

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly anyOf?: readonly Schema[]
}

interface CsvFields {
  readonly CSV_FIELDS: Readonly<Record<string, readonly string[]>>
}

const document = JSON.parse(readFileSync(new URL('../../server/openapi.json', import.meta.url), 'utf8'))
const schemas: Readonly<Record<string, Schema>> = document.components.schemas
/** Second names of fields, and fields that are answered only on request. */
const LEFT_OUT = /^publication\.(type|marketplace_id)$|^(tx_hash|log_index|contract_address) of Bid$/

const { CSV_FIELDS } = (await import(pageModule('lists/csv-fields.ts'))) as CsvFields
const RECORDS_OF_LISTS: Readonly<Record<string, readonly string[]>> = {
  parcels: ['Parcel'],
  estates: ['Estate'],
  bids: ['Bid'],
  contributions: ['Contribution'],
  mortgages: ['Mortgage'],
}

/** What a spreadsheet needs beside `asset_id`, which it may change. */
const PLACE = ['x', 'y', 'estate_id']

test('every list has columns', () => {
  expect(Object.keys(CSV_FIELDS).sort()).toEqual(Object.keys(RECORDS_OF_LISTS).sort())
})

test.each(Object.entries(RECORDS_OF_LISTS))(
  'the columns of the list %s are the fields of %j in openapi.json, each once',
  (list, names) => {
    const fields = names.flatMap((name) => leaves(schemas[name]!).filter((field) => !isLeftOut(field, name)))

    const place = fields.includes('asset_id') ? PLACE : []
    expect([...CSV_FIELDS[list]!].sort()).toEqual([...new Set([...fields, ...place])].sort())
  },
)

test('the columns have the order in which the interface answers the fields', () => {
  const { contributions, parcels, estates } = CSV_FIELDS

  expect(contributions).toEqual(['address', 'district_id', 'land_count'])
  expect(parcels!.slice(0, 5)).toEqual(['id', 'x', 'y', 'auction_price', 'district_id'])
  expect(estates!.slice(0, 5)).toEqual(['id', 'token_id', 'owner', 'operator', 'update_operator'])
})

test.each(['bids', 'mortgages'])('the place of an asset stands behind its id in the list %s', (list) => {
  const at = CSV_FIELDS[list]!.indexOf('asset_id')

  expect(CSV_FIELDS[list]!.slice(at, at + 4)).toEqual(['asset_id', ...PLACE])
})

test.each(['parcels', 'estates'])('the columns of the offer are the last ones of the list %s', (list) => {
  const isOfOffer = CSV_FIELDS[list]!.map((field) => field.startsWith('publication.'))

  expect(isOfOffer).toContain(true)
  expect(isOfOffer.slice(isOfOffer.indexOf(true))).not.toContain(false)
  expect(isOfOffer[0]).toBe(false)
})

function isLeftOut(field: string, schema: string): boolean {
  return LEFT_OUT.test(field) || LEFT_OUT.test(`${field} of ${schema}`)
}

function leaves(schema: Schema): readonly string[] {
  const { $ref, anyOf, properties } = schema
  if ($ref) return leaves(schemas[$ref.split('/').at(-1)!]!)
  if (anyOf) return leaves(anyOf.find(({ type }) => type !== 'null')!)
  if (!properties) return ['']
  return Object.entries(properties).flatMap(([name, inner]) =>
    leaves(inner).map((leaf) => (leaf === '' ? name : `${name}.${leaf}`)),
  )
}
