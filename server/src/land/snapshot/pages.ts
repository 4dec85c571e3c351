import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { LandTable, LandTables } from '../records/tables.ts'

/** Rows per query: on the embedded engine a query takes about 10 ms, and other statements run between two of them. */
export const PAGE_ROWS = 500

/**
 * The rows of a world's table in the canonical order, a page at a time. Each page starts behind the last row of the
 * one before (by key, not by number of rows): its cost does not grow with its place.
 */
export async function* pagesOf<Table extends LandTable>(
  db: Db,
  table: Table,
  worldId: number,
): AsyncGenerator<readonly LandTables[Table][], void, undefined> {
  let last: LandTables[Table] | undefined
  do {
    const page = await sql<LandTables[Table]>`
      select * from ${sql.table(table)}
      where world_id = ${worldId} and ${last ? AFTER[table](last) : sql`true`}
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
