import { expect, test } from 'vitest'
import document from '../../../server/openapi.json'
import type { ListName } from '../state/explore-state.ts'
import { CSV_FIELDS, csvRow } from './csv-fields.ts'

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly anyOf?: readonly Schema[]
}

// The compiler gives each schema of the file a type of its own.
const schemas = document.components.schemas as unknown as Readonly<Record<string, Schema>>
/** Second names, and what the interface tells only when it is asked for. */
const LEFT_OUT = /^publication\.(type|marketplace_id)$|^(tx_hash|log_index|contract_address) of Bid$/

test.each<[ListName, readonly string[]]>([
  ['on_sale', ['Parcel', 'Estate']],
  ['parcels', ['Parcel']],
  ['estates', ['Estate']],
  ['bids', ['Bid']],
  ['contributions', ['Contribution']],
  ['mortgages', ['Mortgage']],
])('the columns of %s are the fields of %j in openapi.json, each once', (list, names) => {
  const fields = names.flatMap((name) => leaves(schemas[name]!).filter((field) => !isLeftOut(field, name)))

  expect([...CSV_FIELDS[list]].sort()).toEqual([...new Set(fields)].sort())
})

test('inner fields are found, missing ones are empty, and parcels are a list of places', () => {
  const estate = {
    id: '7',
    data: {
      parcels: [
        { x: -1, y: 2 },
        { x: 0, y: 2 },
      ],
    },
    publication: null,
  }

  expect(csvRow(['id', 'data.parcels', 'data.name', 'publication.price', 'toString'], estate)).toEqual([
    '7',
    '-1,2;0,2',
    undefined,
    undefined,
    undefined,
  ])
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
