import type { Db } from '@landpass/server/db/engine'
import { EVENT_COLUMNS, EVENT_TABLES, keyText } from '@landpass/server/land/changes/event-tables'
import type { EventTable } from '@landpass/server/land/events/land-rows'
import { type RawBuilder, sql } from 'kysely'

/** Rows of all tables that events write, each as text, by its table and key: equal rows have equal texts. */
export type LandText = ReadonlyMap<string, string>

/** A block of a position, with the digest of the logs that were applied; null where it is not stored. */
export interface AppliedBlock {
  readonly number: number
  readonly hash: string
  readonly digest: string | null
}

/** A row as a block found it; null where there was none. */
export interface StoredImage {
  readonly blockNumber: number
  readonly name: string
  readonly before: string | null
}

/** What the database has of a world that follows a chain, at one point in time. */
export interface StoredLand {
  readonly revision: number
  readonly number: number
  readonly hash: string
  readonly finalizedHash: string
  /** From the last final block to the newest. */
  readonly blocks: readonly AppliedBlock[]
  readonly rows: LandText
  readonly images: readonly StoredImage[]
  /** Everything that was read, as the database wrote it, with the journal: for a search in the text. */
  readonly texts: readonly string[]
}

const NUMERIC: ReadonlySet<string> = new Set([
  'auction_price',
  'price',
  'amount',
  'outstanding_amount',
  'paid',
])

/** A row in the same text, whether it comes from a table or from the rules. */
export function rowText(table: EventTable, row: object): string {
  const values = row as Readonly<Record<string, unknown>>
  return JSON.stringify(EVENT_COLUMNS[table].map((column) => values[column] ?? null))
}

export function rowName(table: EventTable, row: object): string {
  return `${table} ${keyText(table, row)}`
}

/**
 * Reads position, rows, images and journal of a world in one statement: no commit comes between them.
 *
 * @param worldId as a constant of the statement, so that the database plans only for the tables of this world
 * @throws {Error} where another world is shown, or the world has no position
 */
export async function readStoredLand(db: Db, worldId: number): Promise<StoredLand> {
  const world = sql.lit(worldId)
  const { rows: parts } = await sql<Part>`
    select 'head' as part, json_build_array(revision, block_number, block_hash, finalized_hash, status)::text as row
    from land_state join chain_position using (world_id) where world_id = ${world}
    union all select 'block', json_build_array(number, hash, logs_digest)::text
    from chain_block where world_id = ${world}
    union all select 'image', json_build_array(block_number, table_name, key, before)::text
    from chain_undo where world_id = ${world}
    union all select 'journal', json_build_array(revision, subject, key)::text
    from land_change where world_id = ${world}
    ${sql.join(
      EVENT_TABLES.map((table) => selectRows(table, worldId)),
      sql` `,
    )}`.execute(db)
  return landOf(parts)
}

interface Part {
  readonly part: string
  readonly row: string
}

function selectRows(table: EventTable, worldId: number): RawBuilder<unknown> {
  const columns = EVENT_COLUMNS[table].map((column) =>
    NUMERIC.has(column) ? sql`${sql.ref(column)}::text` : sql.ref(column),
  )
  return sql`union all select ${sql.lit(table)}, json_build_array(${sql.join(columns)})::text
    from ${sql.table(table)} where world_id = ${sql.lit(worldId)}`
}

function landOf(parts: readonly Part[]): StoredLand {
  const of = (wanted: string) => parts.flatMap(({ part, row }) => (part === wanted ? [row] : []))
  const [head] = of('head')
  if (head === undefined) throw new Error('another world is shown, or it has no position on the chain')
  const [revision, number, hash, finalizedHash] = JSON.parse(head) as [number, number, string, string]
  const blocks = of('block').map((text): AppliedBlock => {
    const [blockNumber, blockHash, digest] = JSON.parse(text) as [number, string, string | null]
    return { number: blockNumber, hash: blockHash, digest }
  })
  return {
    ...{ revision, number, hash, finalizedHash },
    blocks: blocks.sort((a, b) => a.number - b.number),
    rows: new Map(EVENT_TABLES.flatMap((table) => of(table).map((text) => namedRow(table, text)))),
    images: of('image').map(imageOf),
    texts: parts.map(({ row }) => row),
  }
}

function namedRow(table: EventTable, text: string): readonly [string, string] {
  const values = JSON.parse(text) as readonly unknown[]
  const row = Object.fromEntries(EVENT_COLUMNS[table].map((column, at) => [column, values[at]]))
  return [rowName(table, row), rowText(table, row)]
}

function imageOf(text: string): StoredImage {
  const [blockNumber, table, key, before] = JSON.parse(text) as [number, EventTable, object, object | null]
  return { blockNumber, name: rowName(table, key), before: before && rowText(table, before) }
}

/** What differs between two sets of rows, in words; none where they are equal. */
export function differences(got: LandText, wanted: LandText): readonly string[] {
  const found: string[] = []
  for (const [name, text] of wanted) {
    const other = got.get(name)
    if (other !== text) found.push(`${name} is ${other ?? 'missing'}, and should be ${text}`)
  }
  for (const [name, text] of got) if (!wanted.has(name)) found.push(`${name} should not be there: ${text}`)
  return found
}
