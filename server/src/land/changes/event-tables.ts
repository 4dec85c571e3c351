import { type EventRows, type EventTable, KEY_COLUMNS } from '../events/land-rows.ts'
import { RECORDS } from '../records/tables.ts'

/** The columns of the tables that events change, but for the number of the world. */
export const EVENT_COLUMNS: Readonly<Record<EventTable, readonly string[]>> = {
  parcel: RECORDS.parcel.columns,
  estate: RECORDS.estate.columns,
  publication: RECORDS.publication.columns,
  bid: RECORDS.bid.columns,
  mortgage: RECORDS.mortgage.columns,
  land_right: ['kind', 'registry', 'owner', 'operator'],
  trade_signature: ['marketplace', 'signer', 'signature_key', 'is_cancelled', 'uses'],
  trade_index: ['marketplace', 'signer', 'value', 'is_paused'],
}

export const EVENT_TABLES = Object.keys(EVENT_COLUMNS) as readonly EventTable[]

/** The tables with rows that some answer shows: a change of one of them makes a new revision. */
export const SHOWN_TABLES: readonly EventTable[] = ['parcel', 'estate', 'publication', 'bid', 'mortgage']

/** The columns that name a row, with their values. */
export type RowKey = Readonly<Record<string, unknown>>

export function keyOf(table: EventTable, row: object): RowKey {
  const values = row as RowKey
  return Object.fromEntries(KEY_COLUMNS[table].map((column) => [column, values[column]]))
}

/** The same text for the same row. */
export function keyText(table: EventTable, row: object): string {
  return JSON.stringify(KEY_COLUMNS[table].map((column) => (row as RowKey)[column]))
}

export function keyOfText(table: EventTable, text: string): RowKey {
  const values = JSON.parse(text) as readonly unknown[]
  return Object.fromEntries(KEY_COLUMNS[table].map((column, i) => [column, values[i]]))
}

/** A row as it was, and as it is now; undefined where there is none. */
export interface RowChange<Table extends EventTable = EventTable> {
  readonly table: Table
  readonly before: EventRows[Table] | undefined
  readonly now: EventRows[Table] | undefined
}
