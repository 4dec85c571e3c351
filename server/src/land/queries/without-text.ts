import { sql } from 'kysely'
import { NOT_IN_ANSWERS } from '../records/tables.ts'

/** In place of the raw text of an owner, which can be long: no answer has it. */
export const NO_TEXT = sql<null>`null`.as('data_text')

/** The columns of a table of parcels or estates but for `world_id` and the raw text. */
export function columnsWithoutText<Table>(columns: readonly string[]): readonly ColumnWithoutText<Table>[] {
  const kept: readonly unknown[] = columns.filter((column) => !NOT_IN_ANSWERS.has(column))
  return kept as readonly ColumnWithoutText<Table>[]
}

type ColumnWithoutText<Table> = Exclude<keyof Table & string, 'data_text' | 'world_id'>
