import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { LandTable, LandTables } from '../records/tables.ts'

/** Rows per query: on the embedded engine a query takes about 10 ms, and other statements run between two of them. */
const PAGE_ROWS = 500
/** Rows per query that reads two numbers of each row. */
const ORDER_PAGE_ROWS = 5_000

type Pages<Table extends LandTable> = AsyncGenerator<readonly LandTables[Table][], void, undefined>

/** The rows of a world's table in the order of a snapshot, a page at a time. */
export function pagesOf<Table extends LandTable>(db: Db, table: Table, worldId: number): Pages<Table> {
  return PAGES[table](db, worldId)
}

const PAGES: { readonly [Table in LandTable]: (db: Db, worldId: number) => Pages<Table> } = {
  district: (db, worldId) => pagesByKey(db, 'district', worldId),
  parcel: (db, worldId) => pagesByKey(db, 'parcel', worldId),
  estate: (db, worldId) => pagesByKey(db, 'estate', worldId),
  publication: publicationPages,
  bid: (db, worldId) => pagesByKey(db, 'bid', worldId),
  mortgage: (db, worldId) => pagesByKey(db, 'mortgage', worldId),
  contribution: (db, worldId) => pagesByKey(db, 'contribution', worldId),
}

/**
 * Publications by `block_time_created_at_ms`, then by key: an import refuses any other order. Keys mostly have the same
 * order, but the database does not enforce it. No index has this order, and without one each page would sort the whole
 * table. So keys and times are read first, 16 bytes for each publication.
 */
async function* publicationPages(db: Db, worldId: number): Pages<'publication'> {
  const order = await readCreationOrder(db, worldId)
  if (order.isByKey) return yield* pagesByKey(db, 'publication', worldId)
  const keys = order.keys()
  for (let from = 0; from < keys.length; from += PAGE_ROWS) {
    const wanted = `{${keys.subarray(from, from + PAGE_ROWS).join(',')}}`
    const page = await sql<LandTables['publication']>`
      select * from publication where world_id = ${worldId} and key = any(${wanted}::bigint[])
      order by block_time_created_at_ms, key`.execute(db)
    yield page.rows
  }
}

/** The keys of publications and the times of their creation, in the order of keys. */
class CreationOrder {
  isByKey = true
  private readonly keysByKey: number[] = []
  private readonly timesMs: number[] = []

  add(key: number, timeMs: number): void {
    if (timeMs < (this.timesMs.at(-1) ?? Number.NEGATIVE_INFINITY)) this.isByKey = false
    this.keysByKey.push(key)
    this.timesMs.push(timeMs)
  }

  /** The keys by time, then by key. */
  keys(): Float64Array {
    const places = Uint32Array.from(this.keysByKey.keys())
    places.sort((a, b) => this.timesMs[a]! - this.timesMs[b]! || a - b)
    return Float64Array.from(places, (place) => this.keysByKey[place]!)
  }
}

async function readCreationOrder(db: Db, worldId: number): Promise<CreationOrder> {
  const order = new CreationOrder()
  let rows: { key: number; timeMs: number }[]
  let lastKey = Number.MIN_SAFE_INTEGER
  do {
    rows = await db
      .selectFrom('publication')
      .select(['key', 'block_time_created_at_ms as timeMs'])
      .where('world_id', '=', worldId)
      .where('trade_id', 'is', null)
      .where('key', '>', lastKey)
      .orderBy('key')
      .limit(ORDER_PAGE_ROWS)
      .execute()
    for (const { key, timeMs } of rows) order.add(key, timeMs)
    lastKey = rows.at(-1)?.key ?? lastKey
  } while (rows.length === ORDER_PAGE_ROWS)
  return order
}

/**
 * Rows in the order of their keys. Each page starts behind the last row of the one before (by key, not by number of
 * rows): its cost does not grow with its place.
 */
async function* pagesByKey<Table extends LandTable>(db: Db, table: Table, worldId: number): Pages<Table> {
  let last: LandTables[Table] | undefined
  do {
    const page = await sql<LandTables[Table]>`
      select * from ${sql.table(table)}
      where world_id = ${worldId} and ${last ? AFTER[table](last) : sql`true`} and ${EXPORTED[table] ?? sql`true`}
      order by ${sql.raw(ORDER[table])} limit ${PAGE_ROWS}`.execute(db)
    yield page.rows
    last = page.rows.length < PAGE_ROWS ? undefined : page.rows.at(-1)
  } while (last)
}

/** Estate ids are numbers written as text, of up to 78 digits: shorter first, then digit by digit. */
const ORDER: Readonly<Record<LandTable, string>> = {
  district: 'position',
  parcel: 'x, y',
  estate: 'length(id), id collate "C"',
  publication: 'key',
  bid: 'key',
  mortgage: 'key',
  contribution: 'key',
}

/** Which rows a snapshot has. Offers that were signed off the chain are read again where it is imported. */
const EXPORTED: Partial<Record<LandTable, ReturnType<typeof sql<boolean>>>> = {
  publication: sql`trade_id is null`,
}

const afterKey = ({ key }: { key: number }) => sql<boolean>`key > ${key}`

const AFTER: { readonly [Table in LandTable]: (last: LandTables[Table]) => ReturnType<typeof sql<boolean>> } =
  {
    district: ({ position }) => sql`position > ${position}`,
    parcel: ({ x, y }) => sql`(x, y) > (${x}, ${y})`,
    estate: ({ id }) => sql`(length(id), id collate "C") > (length(${id}::text), ${id}::text collate "C")`,
    publication: afterKey,
    bid: afterKey,
    mortgage: afterKey,
    contribution: afterKey,
  }
