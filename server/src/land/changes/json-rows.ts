import { type RawBuilder, sql } from 'kysely'
import type { EventRows, EventTable } from '../events/land-rows.ts'
import { NOT_IN_ANSWERS } from '../records/tables.ts'
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
  /** As answers need them: with the number of the world, and without the values that no answer has. */
  readonly isForAnswers?: boolean
}

/** The rows of some table, as a statement of its own would answer them: see {@link exactRows}. */
export type JsonRows = readonly EventRows[EventTable][]

/**
 * The rows of a table as one value in JSON, in no particular order, so that one statement can read several tables. It is not
 * for thousands of rows: those are parsed faster, and with less memory, as rows.
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

/**
 * Rows in JSON, after all their numbers were checked.
 *
 * @throws {RangeError} for a number beyond 2^53, which is another one in JSON: as row-types.ts does for rows
 */
export function exactRows<Row extends object>(rows: readonly Row[]): readonly Row[] {
  for (const row of rows)
    for (const [column, value] of Object.entries(row))
      if (typeof value === 'number' && !Number.isSafeInteger(value))
        throw new RangeError(`${column}: ${value} is not a safe integer`)
  return rows
}

function answerColumn(column: string): string {
  return NOT_IN_ANSWERS.has(column) ? `null as "${column}"` : columnText(column)
}

function columnText(column: string): string {
  return MONEY_COLUMNS.has(column) ? `"${column}"::text` : `"${column}"`
}
