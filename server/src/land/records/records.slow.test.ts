import { readdirSync, readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { tinyRecords } from '../../../test/support/land/tiny-world.ts'
import * as schemaParts from '../../schema-parts.ts'
import { publicationTexts } from '../queries/publication-queries.ts'
import { DATA_SETS, TABLE_OF } from '../snapshot/format.ts'
import { operatorsOf, ZERO_ADDRESS } from './assets.ts'
import * as is from './checks.ts'
import { compileRowMaker, compileTextWriter } from './compile.ts'
import {
  address,
  addresses,
  derived,
  integer,
  isoTime,
  optional,
  orNull,
  price,
  timeMsDigits,
} from './fields.ts'
import { digitsJson, scalarJson } from './json.ts'
import { PUBLICATION, publicationJson } from './publication.ts'
import { defineRecord } from './record.ts'
import { LAND_TABLES, type LandTable, RECORDS } from './tables.ts'

const nowhere = { positionsOf: () => ({ district: 3, estate: 4 }) }
const noted =
  (problems: string[]): is.Blame =>
  (field, _value, reason) => {
    problems.push(`${field} ${reason}`)
    return false
  }

/** A record of a made-up table, with a field of each kind, and a new one besides where a test adds it. */
function shopRecord<Extra extends Record<string, ReturnType<typeof address>>>(extra: Extra) {
  return defineRecord({
    description: 'A shop.',
    fields: {
      owner: orNull(address()),
      rent: price(),
      open_since: timeMsDigits(),
      changed_at: isoTime(),
      ...extra,
      keepers: addresses('Who may open it.'),
      floor: optional(integer(is.isCount)),
    },
    places: { key: (_record, index) => index + 1 },
    derived: {
      is_let: derived(
        ({ Type }) => Type.Boolean(),
        (row: { owner: string | null }) => String(row.owner !== null),
      ),
    },
    answer: ['rent', 'owner', 'open_since', 'is_let', 'floor', ...Object.keys(extra), 'keepers'] as (
      | 'rent'
      | 'owner'
    )[],
    notAnswered: ['changed_at'],
  })
}

const ANN = `0x${'a'.repeat(40)}`
const LINE = { owner: null, rent: 1.5, open_since: '1000', changed_at: '2019-02-03T00:00:00.000Z' }

test('a field that is added to a record is in its rows, lines, checks, answers and openapi.json', () => {
  const before = shopRecord({})
  const after = shopRecord({ guard: address('Who guards it.') })
  const line = { ...LINE, guard: ANN } as never
  const problems: string[] = []

  expect(before.check(line, '', noted(problems))).toBe(false)
  expect(after.check(LINE, '', noted(problems))).toBe(false)
  expect(after.check(line, '', noted(problems))).toBe(true)
  expect(problems).toEqual(['guard is no field of the format', 'guard is missing'])
  const row = { world_id: 1, ...after.toRow(line, 0, nowhere) }
  expect(row).toEqual({
    world_id: 1,
    key: 1,
    owner: null,
    rent: '1.5',
    open_since_ms: 1000,
    changed_at_ms: Date.parse(LINE.changed_at),
    guard: ANN,
    keepers: null,
    floor: null,
  })
  expect(after.line(row)).toBe(JSON.stringify(line))
  expect(after.json(row)).toBe(
    `{"rent":1.5,"owner":null,"open_since":"1000","is_let":false,"floor":null,"guard":"${ANN}","keepers":[]}`,
  )
  expect(after.columns.filter((column) => !before.columns.includes(column))).toEqual(['guard'])
  const { guard, ...others } = after.shape(schemaParts).properties as Record<string, unknown>
  expect(others).toEqual(before.shape(schemaParts).properties)
  expect(guard).toMatchObject({ description: 'Who guards it.' })
})

test('what a line leaves out stays away from it on the way back, and what it has comes back', () => {
  const shop = shopRecord({})
  const lists = [
    LINE,
    { ...LINE, keepers: [ANN], floor: 0 },
    { ...LINE, owner: ANN, rent: 3, keepers: [ANN, `0x${'b'.repeat(40)}`] },
  ]

  for (const line of lists) {
    const row = { world_id: 1, ...shop.toRow(line, 7, nowhere) }
    expect(shop.line(row)).toBe(JSON.stringify(line))
  }
  const empty = { world_id: 1, ...shop.toRow({ ...LINE, keepers: [] }, 0, nowhere) }
  expect(shop.line(empty)).toBe(JSON.stringify(LINE))
})

test('a field that PostgreSQL would write otherwise is refused', () => {
  const { sqlJsonOf } = shopRecord({})

  expect(sqlJsonOf(['rent', 'owner'])).toContain('rent as rent, owner as owner')
  for (const name of ['open_since', 'keepers', 'is_let'])
    expect(() => sqlJsonOf([name as 'rent'])).toThrow(`as answers have it: ${name}`)
})

test('a definition that forgets a field, or names one twice, is refused', () => {
  const options = { description: '', fields: { owner: address() }, places: {}, derived: {} }

  expect(() => defineRecord({ ...options, answer: [], notAnswered: [] })).toThrow('Named in neither')
  expect(() => defineRecord({ ...options, answer: ['owner'], notAnswered: ['owner'] })).toThrow('Named twice')
})

test('the examples of the compiler hold, and it takes nothing but names', () => {
  const write = compileTextWriter<{ at_ms: number }>([
    { name: 'at', column: 'at_ms', write: digitsJson, isOptional: false },
  ])
  const toRow = compileRowMaker<{ at: string }, undefined, object>([
    { column: 'at_ms', field: 'at', make: Number },
  ])

  expect(write({ at_ms: 5 })).toBe('{"at":"5"}')
  expect(toRow({ at: '5' }, 0, undefined)).toEqual({ at_ms: 5 })
  expect(() => compileTextWriter([{ name: "'", column: 'x', write: scalarJson, isOptional: false }])).toThrow(
    'No name of a field',
  )
})

test('no record loads TypeBox, which would hold up imports and the thread that builds the state', () => {
  const folder = new URL('../../../../src/land/records/', import.meta.url)
  const files = readdirSync(folder).filter((name) => !name.endsWith('.test.ts') && name.endsWith('.ts'))
  const loading = files.filter((name) =>
    /^import (?!type ).*'(?:typebox|.*schema-parts\.ts)'/m.test(readFileSync(new URL(name, folder), 'utf8')),
  )

  expect(files).toContain('parcel.ts')
  expect(loading).toEqual([])
})

/** A good line of each record. */
const LINES = Object.fromEntries(
  DATA_SETS.map((set) => [TABLE_OF[set], tinyRecords()[set][0]!]),
) as unknown as {
  readonly [Table in LandTable]: Record<string, unknown>
}

test.each(LAND_TABLES)('all forms of the record %s have the fields of its definition', (table) => {
  const record = RECORDS[table]
  const line = LINES[table]
  const row = { world_id: 1, ...record.toRow(line as never, 0, nowhere) }
  const isMissing = record.fields.filter((field) => {
    const { [field]: _, ...without } = line
    return !record.check(without, '', noted([]))
  })
  const optionalFields = record.fields.filter((field) => !isMissing.includes(field))

  expect(record.check(line, '', noted([]))).toBe(true)
  expect(record.check({ ...line, another: 1 }, '', noted([]))).toBe(false)
  expect(Object.keys(row)).toEqual(['world_id', ...record.columns])
  expect(Object.keys(JSON.parse(record.line(row as never)))).toEqual(isMissing)
  expect(record.fields).toEqual([...isMissing, ...optionalFields])
  const text = record.json({ ...row, parcelCount: 1 } as never)
  const answered = Object.entries(row).filter(([column]) => record.answerColumns.includes(column))
  expect(record.json({ ...Object.fromEntries(answered), parcelCount: 1 } as never)).toBe(text)
  const answer = JSON.parse(text) as object
  expect(Object.keys(answer)).toEqual(Object.keys(record.shape(schemaParts).properties))
})

describeOnBothEngines('the tables', (open) => {
  test.each(LAND_TABLES)('%s has the columns of its record, and no others', async (table) => {
    const { db } = await open()

    const { rows } = await sql<{ name: string }>`
      select attname as name from pg_attribute
      where attrelid = ${table}::regclass and attnum > 0 and not attisdropped`.execute(db)

    expect(rows.map(({ name }) => name).sort()).toEqual(['world_id', ...RECORDS[table].columns].sort())
  })

  test('PostgreSQL writes the same text of a publication as we do', async () => {
    const { db } = await open()
    const [offer] = tinyRecords().publications
    const row = { ...PUBLICATION.toRow(offer!, 0, nowhere), world_id: 1 }
    const sold = { ...row, status: 'sold', buyer: ANN, closed_tx_hash: offer!.tx_hash } as const
    const rows = [
      { ...row, key: 1, status: 'open', buyer: null, block_time_updated_at_ms: null, closed_tx_hash: ANN },
      { ...sold, key: 2, price: '1234567890123456789012.000000000000000001', expires_at_ms: 253402300799999 },
      { ...sold, key: 3, status: 'cancelled', buyer: null, price: '0.10' },
      { ...sold, key: 4, asset_id: '12', asset_type: 'estate', closed_tx_hash: null },
      { ...row, key: 5, status: 'open', trade_id: 'a trade' },
    ] as const
    await sql`create table publication_of_1 partition of publication for values in (1)`.execute(db)
    await db.insertInto('publication').values(rows).execute()

    const texts = await publicationTexts(db, 1, [5, 4, 3, 2, 1, 99])

    const expected = rows.slice(0, 4).map((each) => ({ key: each.key, json: publicationJson(each) }))
    expect(texts.toSorted((a, b) => a.key - b.key)).toEqual(expected)
  })
})

test('who may act for an owner is named once, whatever for', () => {
  const nobody = { operator: null, update_operator: null, approvals_for_all: null, update_managers: null }

  expect(operatorsOf(nobody)).toEqual([])
  expect(
    operatorsOf({ ...nobody, update_operator: ZERO_ADDRESS, approvals_for_all: [], update_managers: [] }),
  ).toEqual([])
  expect(operatorsOf({ ...nobody, operator: '0xa', update_managers: ['0xa', '0xb'] })).toEqual(['0xa', '0xb'])
  expect(operatorsOf({ ...nobody, update_operator: '0xc', approvals_for_all: ['0xd'] })).toEqual([
    '0xc',
    '0xd',
  ])
})

test('what answers do not say is not read for them', () => {
  const left = (table: LandTable) => {
    const { columns, answerColumns } = RECORDS[table]
    return columns.filter((column) => !answerColumns.includes(column))
  }

  expect(left('publication')).toEqual([
    'created_at_ms',
    'updated_at_ms',
    'log_index',
    'closed_by',
    'sold_size',
    'sold_source',
    'sold_block_number',
    'sold_log_index',
  ])
  expect(left('bid')).toEqual(['closed_by', 'closed_tx_hash', 'sold_size', 'sold_log_index'])
})

test('the transaction that closed an offer is answered where it is known, and of no open one', () => {
  const [open] = tinyRecords().publications
  const answerOf = (status: 'open' | 'cancelled', closed_tx_hash: string | null) => {
    const row = PUBLICATION.toRow(open!, 0, nowhere)
    return JSON.parse(publicationJson({ ...row, status, closed_tx_hash }))
  }

  expect(answerOf('cancelled', open!.tx_hash)).toMatchObject({ closed_tx_hash: open!.tx_hash })
  expect(answerOf('cancelled', null)).not.toHaveProperty('closed_tx_hash')
  expect(answerOf('open', open!.tx_hash)).not.toHaveProperty('closed_tx_hash')
})
