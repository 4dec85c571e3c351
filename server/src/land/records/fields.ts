import type { Coord } from '@landpass/client/grid'
import type { TSchema } from 'typebox'
import type * as schemaParts from '../../schema-parts.ts'
import type { Check, JsonMoney } from './checks.ts'
import * as is from './checks.ts'
import { arrayJson, decimalJson, digitsJson, isoJson, plainJson, scalarJson, textJson } from './json.ts'

/**
 * The kinds of fields that records are made of. A kind says once what its values are in each of the places where a
 * field stands: in a snapshot's line (`check`), in a column of its table (`toColumn`), as text of a line or an
 * answer (`text`), and in openapi.json (`schema`). record.ts makes records of them.
 */

/**
 * What openapi.json says of a value. It is given what schemas are made of: see schema-parts.ts for why it is not
 * imported here.
 */
export type Describe = (schemas: typeof schemaParts) => TSchema

/** A field with one column. The column's name is the field's, and a unit after it. */
export interface ColumnField<Column, Line, Unit extends string, IsOptional extends boolean> {
  readonly kind: 'column'
  /** `_ms` for times in milliseconds, `_s` for seconds, else nothing. */
  readonly unit: Unit
  readonly check: Check<Line>
  /** Whether a line may leave it out. */
  readonly isOptional: IsOptional
  /** Left out where the column holds what the line says. */
  readonly toColumn?: (line: IsOptional extends true ? Line | undefined : Line) => Column
  /** On a line and in an answer. Every kind writes null as `null`, so that {@link orNull} can be put around it. */
  readonly text: (column: Column | null) => string
  /** On a line, where that is another text; undefined leaves the field out. */
  readonly lineText?: (column: Column | null) => string | undefined
  /** The schema of an answer. */
  readonly schema: Describe
}

/** A field with several columns, or with none because other columns say it. */
export interface ComposedField<Line, Columns extends ColumnMakers<Line>, Row> {
  readonly kind: 'composed'
  readonly check: Check<Line>
  readonly columns: Columns
  /** @param parcels what a district or an estate lists */
  readonly text: (row: Row, parcels: readonly Coord[]) => string
  readonly schema: Describe
}

export type ColumnMakers<Line> = Readonly<Record<string, (line: Line) => unknown>>

/** A field that only answers have. */
export interface DerivedField<Row> {
  readonly kind: 'derived'
  /** The column whose value it repeats; left out where its text is made otherwise. */
  readonly column?: string
  readonly text: (row: Row, parcels: readonly Coord[]) => string
  readonly schema: Describe
}

function sameColumn<T>(
  check: Check<T>,
  schema: Describe,
  text: (column: T | null) => string,
): ColumnField<T, T, '', false> {
  return { kind: 'column', unit: '', check, isOptional: false, text, schema }
}

/** A number of `unit` in the column, its digits as text on the line. */
function digitsColumn<Unit extends string>(
  unit: Unit,
  check: Check<string>,
  schema: Describe,
): ColumnField<number, string, Unit, false> {
  return { kind: 'column', unit, check, isOptional: false, toColumn: Number, text: digitsJson, schema }
}

function msColumn(check: Check<number>): ColumnField<number, number, '_ms', false> {
  const schema: Describe = ({ epochMs }) => epochMs()
  return { kind: 'column', unit: '_ms', check, isOptional: false, text: scalarJson, schema }
}

function moneyColumn(check: Check<JsonMoney>): ColumnField<string, JsonMoney, '', false> {
  const schema: Describe = ({ mana }) => mana()
  return {
    kind: 'column',
    unit: '',
    check,
    isOptional: false,
    toColumn: decimalOf,
    text: decimalJson,
    schema,
  }
}

function decimalOf(line: JsonMoney): string {
  const decimal = is.moneyOf(line)
  // Cannot happen after a passed check: a wrong sum must not silently become null.
  if (decimal === undefined) throw new RangeError(`No sum of money: ${String(line)}`)
  return decimal
}

export const address = (about?: string) =>
  sameColumn(is.isAddress, ({ addressText }) => addressText(about), plainJson)
export const hash = (about?: string) => sameColumn(is.isHash, ({ hashText }) => hashText(about), plainJson)
/** Bytes of any content, in hex. */
export const bytes = (description: string, check = is.isBytes) =>
  sameColumn(check, ({ Type }) => Type.String({ pattern: '^0x[0-9a-f]*$', description }), plainJson)
export const uuid = () => sameColumn(is.isUuid, ({ uuidText }) => uuidText(), plainJson)
export const estateId = (about: string) => sameColumn(is.isEstateId, ({ idText }) => idText(about), plainJson)
export const tokenId = (about?: string) =>
  sameColumn(is.isTokenId, ({ digitsText }) => digitsText(about), plainJson)
/** The id of a parcel or an estate, which must be there: text that is found needs no escaping. */
export const assetId = () =>
  sameColumn(is.isText, ({ idText }) => idText('x,y of a parcel, or the id of an estate.'), plainJson)
export const coords = () => sameColumn(is.isCoords, ({ idText }) => idText('x,y'), plainJson)
/** Coordinates with blanks between them. */
export const coordList = (about: string) =>
  sameColumn(is.isCoordList, ({ Type }) => Type.String({ description: about }), plainJson)
export const text = () => sameColumn(is.isText, ({ Type }) => Type.String(), textJson)
export const link = () => sameColumn(is.isLink, ({ Type }) => Type.String(), textJson)
/** One of few words. */
export const word = (check: Check<string>) => sameColumn(check, ({ Type }) => Type.String(), textJson)
export const boolean = () => sameColumn(is.isBoolean, ({ Type }) => Type.Boolean(), scalarJson)
export const integer = (check: Check<number>, about?: string) =>
  sameColumn(check, ({ wholeNumber }) => wholeNumber(about), scalarJson)

/** One of several words that mean something to programs. Lines may be held to fewer of them. */
export function choice<T extends string>(check: Check<T>, values: readonly T[], title?: string) {
  return sameColumn<T>(check, ({ oneOf }) => oneOf(values, title === undefined ? {} : { title }), plainJson)
}

/** MANA, 0 included: decimal text in the column, so that no digit is lost. */
export const money = () => moneyColumn(is.isMoney)
/** MANA above 0. */
export const price = () => moneyColumn(is.isPrice)

/** A time as milliseconds since 1970, a number everywhere. */
export const timeMs = () => msColumn(is.isTimeMs)
/** A deadline, chosen by a user: it may lie thousands of years ahead. */
export const deadlineMs = () => msColumn(is.isDeadlineMs)
/** A time as milliseconds since 1970, in digits on lines and in answers. */
export const timeMsDigits = () => digitsColumn('_ms', is.isTimeMsText, ({ epochMsText }) => epochMsText())
export const deadlineMsDigits = () =>
  digitsColumn('_ms', is.isDeadlineMsText, ({ epochMsText }) => epochMsText())
export const timeSecondsDigits = () =>
  digitsColumn('_s', is.isTimeSecondsText, ({ secondsText }) => secondsText())
export const secondsDigits = () => digitsColumn('_s', is.isSecondsText, ({ secondsText }) => secondsText())

/** A time as ISO 8601 on lines and in answers, milliseconds in the column. */
export function isoTime(): ColumnField<number, string, '_ms', false> {
  return {
    kind: 'column',
    unit: '_ms',
    check: is.isIsoTime,
    isOptional: false,
    toColumn: (line) => Date.parse(line),
    text: isoJson,
    schema: ({ isoTimeText }) => isoTimeText(),
  }
}

/** Null on every line; it has no column. */
export const alwaysNull = () => implied(is.isNull, { schema: ({ Type }) => Type.Null(), text: () => 'null' })

/**
 * Addresses, each once. A line without the field says the same as an empty list, and so does a null in the column:
 * it is what a version of the server writes that does not know the column.
 */
export function addresses(description: string): ColumnField<readonly string[] | null, string[], '', true> {
  return {
    kind: 'column',
    unit: '',
    check: is.isAddressList,
    isOptional: true,
    toColumn: (line) => (line === undefined || line.length === 0 ? null : line),
    text: (column) => (column === null ? '[]' : addressesJson(column)),
    lineText: (column) => (column === null || column.length === 0 ? undefined : addressesJson(column)),
    schema: ({ Type, addressText }) => Type.Array(addressText(), { description }),
  }
}

function addressesJson(column: readonly string[]): string {
  return arrayJson(column.map((one) => plainJson(one)))
}

/** The field, or null in all of its places. */
export function orNull<Column, Line, Unit extends string>(
  field: ColumnField<Column, Line, Unit, false>,
): ColumnField<Column | null, Line | null, Unit, false> {
  const { toColumn } = field
  return {
    kind: 'column',
    unit: field.unit,
    check: is.orNull(field.check),
    isOptional: false,
    ...(toColumn && { toColumn: (line) => (line === null ? null : toColumn(line)) }),
    text: field.text,
    schema: (schemas) => schemas.orNull(field.schema(schemas)),
  }
}

/** The field, which a line may leave out: the column is null then, and so is the answer's field if it has one. */
export function optional<Column, Line, Unit extends string>(
  field: ColumnField<Column, Line, Unit, false>,
): ColumnField<Column | null, Line, Unit, true> {
  const { toColumn, text } = field
  return {
    kind: 'column',
    unit: field.unit,
    check: field.check,
    isOptional: true,
    // Without `toColumn` the column holds what the line says.
    toColumn: (line) => (line === undefined ? null : toColumn ? toColumn(line) : (line as unknown as Column)),
    text,
    lineText: (column) => (column === null ? undefined : text(column)),
    schema: (schemas) => schemas.Type.Optional(schemas.orNull(field.schema(schemas))),
  }
}

export function composed<Line, const Columns extends ColumnMakers<Line>, Row>(
  field: Omit<ComposedField<Line, Columns, Row>, 'kind'>,
): ComposedField<Line, Columns, Row> {
  return { kind: 'composed', ...field }
}

/** Something that lines say although other columns say it: which, `text` knows. */
export function implied<Line, Row>(
  check: Check<Line>,
  field: Omit<DerivedField<Row>, 'kind'>,
): ComposedField<Line, Record<never, never>, Row> {
  return { kind: 'composed', check, columns: {}, ...field }
}

export function derived<Row>(
  schema: Describe,
  text: (row: Row, parcels: readonly Coord[]) => string,
): DerivedField<Row> {
  return { kind: 'derived', schema, text }
}

/** A field that repeats a column of text that needs no escaping. */
export function otherNameOf<Column extends string>(
  column: Column,
  schema: Describe,
): DerivedField<Readonly<Record<Column, string>>> {
  return { kind: 'derived', column, schema, text: (row) => plainJson(row[column]) }
}
