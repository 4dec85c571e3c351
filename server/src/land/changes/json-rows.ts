import { type RawBuilder, sql } from 'kysely'
import type { EventRows, EventTable } from '../events/land-rows.ts'
import { EVENT_COLUMNS } from './event-tables.ts'

/** The columns with sums of money. JSON would have them as numbers, which lose digits: so they are read as text. */
export const MONEY_COLUMNS: ReadonlySet<string> = new Set([
  'auction_price',
  'price',
  'amount',
  'outstanding_amount',
  'paid',
])

/** Rows of one table that are read together with others. */
export interface RowsQuery {
  readonly table: EventTable
  readonly where: RawBuilder<unknown>
  /** As answers need them: with the number of the world, and null in place of the raw text of an owner, which can be long. */
  readonly isForAnswers?: boolean
}

/** The rows of some table, as a statement of its own would answer them. */
export type JsonRows = readonly EventRows[EventTable][]

/**
 * The rows of a table as one value in JSON, in no particular order: one statement can read several tables, and JSON is parsed
 * faster than the columns of rows.
 *
 * @example
 * sql`select ${jsonRows({ table: 'estate', where: sql`world_id = 1` })} as estates, …`
 */
export function jsonRows({ table, where, isForAnswers = false }: RowsQuery): RawBuilder<JsonRows> {
  const columns = EVENT_COLUMNS[table].map(isForAnswers ? answerColumn : columnText)
  if (isForAnswers) columns.push('world_id')
  return sql`(select coalesce(json_agg(one), '[]') from (
    select ${sql.raw(columns.join(', '))} from ${sql.table(table)} where ${where}) as one)`
}

function answerColumn(column: string): string {
  return column === 'data_text' ? 'null as data_text' : columnText(column)
}

function columnText(column: string): string {
  return MONEY_COLUMNS.has(column) ? `"${column}"::text` : `"${column}"`
}
