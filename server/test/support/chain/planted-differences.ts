import { sql } from 'kysely'
import type { Difference } from '../../../src/chain/check/findings.ts'
import type { Db } from '../../../src/db/engine.ts'

type Table = 'parcel' | 'estate' | 'publication' | 'bid' | 'mortgage'
type Row = Readonly<Record<string, unknown>>

const KEYS: Readonly<Record<Table, readonly string[]>> = {
  parcel: ['x', 'y'],
  estate: ['id'],
  publication: ['key'],
  bid: ['key'],
  mortgage: ['key'],
}
const SOMEONE = `0x${'ab'.repeat(20)}`
const SOME_HASH = `0x${'cd'.repeat(32)}`
const STORED = "(status = 'open' or closed_by = 'moved')"
const KEPT = "(status = 'open' or closed_by = 'fingerprint')"
const PLAIN = 'owner is not null and estate_id is null and holder is null'
const DESCRIBED = "data_text like '0x302c%'"

/** Columns of the first row that a condition finds, and a wrong value for each. */
interface Plant {
  readonly table: Table
  readonly where: string
  readonly values: Readonly<Record<string, string | number | null>>
}

const COLUMNS: readonly Plant[] = [
  {
    table: 'parcel',
    where: `${PLAIN} and ${DESCRIBED}`,
    values: {
      ...{ owner: SOMEONE, operator: SOMEONE, update_operator: SOMEONE, holder: SOMEONE, tenant: SOMEONE },
      ...{ rented_until_ms: 1_000, data_text: '0x30', name: 'wrong', description: 'wrong', ipns: 'wrong' },
      data_version: 7,
    },
  },
  {
    table: 'estate',
    where: `holder is null and ${DESCRIBED}`,
    values: {
      ...{ owner: SOMEONE, operator: SOMEONE, update_operator: SOMEONE, holder: SOMEONE, tenant: SOMEONE },
      ...{ rented_until_ms: 1_000, data_text: '0x30', name: 'wrong', description: 'wrong', ipns: 'wrong' },
      ...{ data_version: 7, fingerprint: SOME_HASH },
    },
  },
  {
    table: 'parcel',
    where: 'tenant is not null',
    values: { owner: SOMEONE, tenant: null, rented_until_ms: 5 },
  },
  {
    table: 'publication',
    where: STORED,
    values: { contract_id: SOME_HASH, owner: SOMEONE, price: '0.000000000000000001', expires_at_ms: 5 },
  },
  {
    table: 'bid',
    where: KEPT,
    values: { id: SOME_HASH, seller: SOMEONE, price: '0.000000000000000001', expires_at_ms: 5 },
  },
  {
    table: 'mortgage',
    where: "status = 'ongoing'",
    values: {
      ...{ borrower: SOMEONE, loan_id: 999, asset_id: '99,99', lender: SOMEONE, paid: '0.5', amount: '0.5' },
      ...{ interest_rate: 1, punitory_interest_rate: 1, due_in_s: 1, payable_at_s: 1, expires_at_ms: 5 },
      is_due_at_s: 5,
    },
  },
]

/** Changes columns of the world that is shown, and says which differences must be found. */
export async function plantValues(db: Db, worldId: number): Promise<readonly Difference[]> {
  const expected: Difference[] = []
  for (const { table, where, values } of COLUMNS) {
    const row = await firstRow(db, { table, where, worldId })
    for (const [column, value] of Object.entries(values)) {
      await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${value} where ${isRow(table, row, worldId)}`.execute(
        db,
      )
      expected.push({ ...nameOf(table, row, column), table: textOf(value), contract: textOf(row[column]) })
    }
  }
  return expected
}

/** Rights on assets, and one that no registry knows. */
export async function plantRights(db: Db, worldId: number): Promise<readonly Difference[]> {
  const expected: Difference[] = []
  for (const table of ['parcel', 'estate'] as const) {
    const row = await firstRow(db, { table, where: 'approvals_for_all is not null', worldId })
    for (const column of ['approvals_for_all', 'update_managers']) {
      await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${[SOMEONE]}::text[] where ${isRow(table, row, worldId)}`.execute(
        db,
      )
      const contract = ((row[column] as readonly string[] | null) ?? []).join(' ')
      expected.push({ ...nameOf(table, row, column), table: SOMEONE, contract })
    }
  }
  for (const kind of ['approval', 'manager'] as const) {
    const right = { kind, registry: 'parcel' as const, owner: SOMEONE, operator: SOMEONE }
    await db
      .insertInto('land_right')
      .values({ ...right, world_id: worldId })
      .execute()
    const field = kind === 'approval' ? 'right.approvals_for_all' : 'right.update_managers'
    expected.push({ asset: `parcels of ${SOMEONE}`, field, table: SOMEONE, contract: null })
  }
  return expected
}

/** States that are wrong, rows that are gone, and rows that the contracts have forgotten. */
export async function plantRows(db: Db, worldId: number): Promise<readonly Difference[]> {
  const expected: Difference[] = []
  const change = async (
    table: Table,
    where: string,
    [field, change, values]: [
      field: string | undefined,
      change: string,
      { table: string | null; contract: string | null },
    ],
  ) => {
    const row = await firstRow(db, { table, where, worldId })
    const statement = change === 'delete' ? 'delete from' : 'update'
    await sql`${sql.raw(statement)} ${sql.table(table)} ${sql.raw(change === 'delete' ? '' : change)} where ${isRow(table, row, worldId)}`.execute(
      db,
    )
    const id = String(
      row[table === 'publication' ? 'contract_id' : table === 'mortgage' ? 'mortgage_id' : 'id'],
    )
    const filled = (value: string | null) => (value === 'ID' ? id : value)
    expected.push({
      ...nameOf(table, row, field),
      table: filled(values.table),
      contract: filled(values.contract),
    })
    return row
  }
  const moved = "set status = 'cancelled', closed_by = 'moved'"
  const reopened = "set status = 'open', closed_by = null"
  const [open, closed] = [
    { table: 'cancelled', contract: 'open' },
    { table: 'open', contract: 'cancelled' },
  ]
  const [missing, forgotten] = [
    { table: null, contract: 'ID' },
    { table: 'ID', contract: null },
  ]
  await change('publication', "status = 'open'", ['status', moved, open])
  await change('publication', "closed_by = 'moved'", ['status', reopened, closed])
  await change('publication', "status = 'open'", [undefined, 'delete', missing])
  await change(
    'publication',
    `status = 'sold' and not exists (select from publication as other where
    other.world_id = publication.world_id and other.asset_id = publication.asset_id and ${STORED.replaceAll('status', 'other.status').replaceAll('closed_by', 'other.closed_by')})
    and contract_id in (select contract_id from publication where marketplace_address in
      (select marketplace_address from publication where status = 'open'))`,
    [undefined, reopened, forgotten],
  )
  await change('bid', "status = 'open' and asset_type = 'parcel'", [
    'status',
    "set status = 'cancelled', closed_by = 'fingerprint'",
    open,
  ])
  await change('bid', "closed_by = 'fingerprint'", ['status', reopened, closed])
  await change(
    'bid',
    `closed_by = 'event' and bidder not in (select bidder from bid as other where ${KEPT})`,
    [undefined, reopened, forgotten],
  )
  await change('bid', "status = 'open'", [undefined, 'delete', missing])
  await change('mortgage', "status = 'claimed'", [
    'status',
    "set status = 'defaulted'",
    { table: 'defaulted', contract: 'claimed' },
  ])
  await change('mortgage', "status = 'cancelled'", ['mortgage_id', 'delete', missing])
  await change('mortgage', "status = 'paid'", [
    'status',
    "set status = 'ongoing'",
    { table: 'ongoing', contract: 'paid' },
  ])
  return [...expected, ...(await plantMissing(db, worldId))]
}

/** Parcels and estates that are missing or in the wrong place, and a mortgage with a number that does not exist. */
async function plantMissing(db: Db, worldId: number): Promise<readonly Difference[]> {
  const change = async (table: Table, where: string, statement: string): Promise<Row> => {
    const row = await firstRow(db, { table, where, worldId })
    await sql`${sql.raw(statement)} where ${isRow(table, row, worldId)}`.execute(db)
    return row
  }
  const count = async (table: Table, where = 'true') => {
    const { rows } = await sql<{ count: string }>`select count(*)::text as count from ${sql.table(table)}
      where world_id = ${worldId} and ${sql.raw(where)}`.execute(db)
    return rows[0]!.count
  }
  const [parcels, estates] = [await count('parcel', 'owner is not null'), await count('estate')]
  await change('parcel', PLAIN, 'delete from parcel')
  const lost = await change('estate', 'true', 'delete from estate')
  const member = await change('parcel', `estate_id <> '${lost.id}'`, 'update parcel set estate_id = null')
  const size = Number(await count('parcel', `estate_id = '${member.estate_id}'`))
  const mortgage = await change('mortgage', "status = 'pending'", 'update mortgage set mortgage_id = 900')
  const place = `${member.x},${member.y}`
  const estate = `estate ${member.estate_id}`
  return [
    { asset: 'all parcels', field: 'count', table: String(Number(parcels) - 1), contract: parcels },
    { asset: 'all estates', field: 'count', table: String(Number(estates) - 1), contract: estates },
    { asset: `estate ${lost.id}`, field: 'id', table: null, contract: textOf(lost.id) },
    { asset: `parcel ${place}`, field: 'estate_id', table: null, contract: textOf(member.estate_id) },
    { asset: estate, field: 'size', table: String(size), contract: String(size + 1) },
    { asset: estate, field: 'parcels', table: null, contract: place },
    { asset: 'mortgage 900', field: 'mortgage_id', table: '900', contract: null },
    {
      asset: `mortgage ${mortgage.mortgage_id}`,
      field: 'mortgage_id',
      table: null,
      contract: textOf(mortgage.mortgage_id),
    },
  ]
}

async function firstRow(
  db: Db,
  { table, where, worldId }: { table: Table; where: string; worldId: number },
): Promise<Row> {
  const taken = [...(TAKEN.get(db) ?? [])]
  const keys = sql.raw(KEYS[table].map((key) => `${table}.${key}`).join(" || ' ' || "))
  const { rows } =
    await sql<Row>`select * from ${sql.table(table)} where world_id = ${worldId} and ${sql.raw(where)}
    and (${table}::text || ' ' || ${keys}) <> all(${taken}::text[])
    order by ${sql.raw(KEYS[table].join(', '))} limit 1`.execute(db)
  const [row] = rows
  if (!row) throw new Error(`the world has no ${table} with ${where}`)
  TAKEN.set(db, [...taken, `${table} ${KEYS[table].map((key) => row[key]).join(' ')}`])
  return row
}

/** Rows that have been changed: each gets one kind of difference. */
const TAKEN = new WeakMap<Db, readonly string[]>()

function isRow(table: Table, row: Row, worldId: number) {
  const keys = KEYS[table].map((key) => sql`${sql.ref(key)} = ${row[key]}`)
  return sql.join([sql`world_id = ${worldId}`, ...keys], sql` and `)
}

/** How the check names a column of a row; without a column, the row. */
function nameOf(
  table: Table,
  row: Row,
  column: string | undefined,
): Pick<Difference, 'asset' | 'field' | 'of'> {
  if (table === 'parcel') return { asset: `parcel ${row.x},${row.y}`, field: column! }
  if (table === 'estate') return { asset: `estate ${row.id}`, field: column! }
  if (table === 'mortgage') {
    const isNumber = column === 'mortgage_id'
    return { asset: `mortgage ${row.mortgage_id}`, field: isNumber ? 'mortgage_id' : column! }
  }
  const of = String(table === 'bid' ? row.bidder : row.marketplace_address)
  return {
    asset: `${row.asset_type} ${row.asset_id}`,
    field: column === undefined ? table : `${table}.${column}`,
    of,
  }
}

function textOf(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value)
}
