import type { Coord } from '@landpass/client/grid'
import type { TObject, TSchema } from 'typebox'
import type * as schemaParts from '../../schema-parts.ts'
import { type Check, type CheckedFields, type Checks, type Flat, object } from './checks.ts'
import { compileRowMaker, compileTextWriter, type RowPart, type TextPart } from './compile.ts'
import type { ColumnField, ComposedField, DerivedField } from './fields.ts'
import { decimalJson, plainJson, scalarJson, textJson } from './json.ts'

/** Where a parcel stands in the lists of its district and its estate; -1 or 0 where it is in none. */
export interface Lists {
  positionsOf(coord: Coord): { readonly district: number; readonly estate: number }
}

/** Any field that lines have, whatever its types. */
type LineField =
  | (Pick<
      ColumnField<unknown, unknown, string, boolean>,
      'kind' | 'unit' | 'check' | 'isOptional' | 'schema'
    > & {
      readonly toColumn?: (line: never) => unknown
      readonly text: (column: never) => string
      readonly lineText?: (column: never) => string | undefined
    })
  | (Pick<ComposedField<unknown, Record<string, never>, unknown>, 'kind' | 'check' | 'schema'> & {
      readonly columns: Readonly<Record<string, (line: never) => unknown>>
      readonly text: (row: never, parcels: readonly Coord[]) => string
    })
export type LineFields = Readonly<Record<string, LineField>>

type AnyDerived = Pick<DerivedField<unknown>, 'kind' | 'schema' | 'column'> & {
  readonly text: (row: never, parcels: readonly Coord[]) => string
}
export type DerivedFields = Readonly<Record<string, AnyDerived>>

/** Columns that no line has: what they hold follows from the record and its place. */
export type PlaceColumns<Line> = Readonly<
  Record<string, (line: Line, index: number, lists: Lists) => unknown>
>

/** A record as it stands on a line of a snapshot. */
export type LineOf<Fields extends LineFields> = CheckedFields<
  { [Name in RequiredNames<Fields>]: Fields[Name]['check'] },
  { [Name in Exclude<keyof Fields, RequiredNames<Fields>>]: Fields[Name]['check'] }
>

type RequiredNames<Fields extends LineFields> = {
  [Name in keyof Fields]: Fields[Name] extends { readonly isOptional: true } ? never : Name
}[keyof Fields]

/** The columns that fields have. */
export type ColumnsOf<Fields extends LineFields> = Flat<
  ColumnFieldsOf<Fields> & ComposedColumnsOf<Fields> & { world_id: number }
>

type ColumnFieldsOf<Fields extends LineFields> = {
  [Name in keyof Fields as ColumnName<Name, Fields[Name]>]: ColumnType<Fields[Name]>
}
type ColumnName<Name, Field> = Field extends {
  readonly kind: 'column'
  readonly unit: infer Unit extends string
}
  ? `${Name & string}${Unit}`
  : never
type ColumnType<Field> =
  Field extends ColumnField<infer Column, infer _Line, infer _Unit, infer _IsOptional> ? Column : never

type ComposedColumnsOf<Fields extends LineFields> = AllTaken<
  { [Name in keyof Fields]: Taking<MadeColumns<Fields[Name]>> }[keyof Fields]
>
type MadeColumns<Field> = Field extends { readonly columns: infer Columns extends PlaceColumns<never> }
  ? { [Name in keyof Columns]: ReturnType<Columns[Name]> }
  : unknown

/** A function with a parameter of type T. TypeScript infers the intersection of the parameters of a union of these. */
type Taking<T> = (taken: T) => void
type AllTaken<Functions> = [Functions] extends [Taking<infer All>] ? All : never

/** What of a row the texts of some fields are made of. */
type RowFor<Fields extends LineFields, Derived extends DerivedFields, Names extends string> = Flat<
  AllTaken<{ [Name in Names]: Taking<RowForOne<Fields, Derived, Name>> }[Names]>
>
type RowForOne<Fields extends LineFields, Derived extends DerivedFields, Name> = Name extends keyof Derived
  ? RowOfText<Derived[Name]>
  : Name extends keyof Fields
    ? Fields[Name] extends { readonly kind: 'column' }
      ? { [Column in ColumnName<Name, Fields[Name]>]: ColumnType<Fields[Name]> }
      : RowOfText<Fields[Name]>
    : never
type RowOfText<Field> = Field extends { readonly text: (row: infer Row, ...rest: never) => string }
  ? Row
  : never

export interface RecordOptions<
  Fields extends LineFields,
  Places extends PlaceColumns<LineOf<Fields>>,
  Derived extends DerivedFields,
  Names extends string,
> {
  /** For openapi.json. */
  readonly description: string
  /** What lines say, in the order in which an export writes it. */
  readonly fields: Fields
  readonly places: Places
  /** What only answers say, or say otherwise than lines. */
  readonly derived: Derived
  /** What answers say, in their order. */
  readonly answer: readonly Names[]
  /** What they do not say. Every field is named in one of the two. */
  readonly notAnswered: readonly (keyof Fields & string)[]
}

/** One record in all its forms. */
export interface LandRecord<Row, Line, AnswerRow, Names extends string> {
  /** Whether a line of a snapshot is this record, each field alone. */
  readonly check: Check<Line>
  /** The row of a checked line, but for the number of its world. @param index its place in its file, from 0 */
  readonly toRow: (line: Line, index: number, lists: Lists) => Omit<Row, 'world_id'>
  /** The line of a row. @param parcels what a district or an estate lists, in its order */
  readonly line: (row: Row, parcels?: readonly Coord[]) => string
  /** The JSON text that answers have of a row. @param parcels as with `line` */
  readonly json: (row: AnswerRow, parcels?: readonly Coord[]) => string
  /** Like `json`, of some of the fields. */
  readonly jsonOf: (names: readonly Names[]) => (row: AnswerRow, parcels?: readonly Coord[]) => string
  /**
   * SQL that selects the text of `jsonOf` from a row of the table.
   *
   * @throws {TypeError} for a field that PostgreSQL does not write as we do: only text, numbers, booleans and money of one column
   */
  readonly sqlJsonOf: (names: readonly Names[]) => string
  /** The shape of an answer, for openapi.json. */
  readonly shape: (schemas: typeof schemaParts) => TObject
  /** Its columns, but for the number of its world. */
  readonly columns: readonly string[]
  /** Its columns without those of the fields that answers do not say. */
  readonly answerColumns: readonly string[]
  /** The names of what lines say. */
  readonly fields: readonly string[]
  /** The names of what answers say, in their order. */
  readonly answer: readonly string[]
}

/**
 * Makes a record of its fields. The functions that run for each row are compiled once, when the module is loaded, and
 * are as fast as functions written by hand.
 *
 * @throws {TypeError} for a definition that contradicts itself
 */
export function defineRecord<
  const Fields extends LineFields,
  const Places extends PlaceColumns<LineOf<Fields>>,
  const Derived extends DerivedFields,
  const Names extends (keyof Fields | keyof Derived) & string,
>(
  options: RecordOptions<Fields, Places, Derived, Names>,
): LandRecord<
  Flat<ColumnsOf<Fields> & { [Name in keyof Places]: ReturnType<Places[Name]> }>,
  LineOf<Fields>,
  RowFor<Fields, Derived, Names>,
  Names
> {
  assertComplete(options)
  const { fields, places, derived, answer, notAnswered, description } = options
  const rowParts = rowPartsOf(fields, places)
  const answered = (name: string): LineField | AnyDerived => derived[name] ?? fields[name]!
  const jsonOf = (names: readonly string[]) =>
    compileTextWriter<RowFor<Fields, Derived, Names>>(names.map((name) => answerPart(name, answered(name))))
  return {
    check: object(...checksOf(fields)) as Check<LineOf<Fields>>,
    toRow: compileRowMaker(rowParts),
    line: compileTextWriter(Object.entries(fields).map(([name, field]) => linePart(name, field))),
    json: jsonOf(answer),
    jsonOf,
    sqlJsonOf: (names) => {
      const columns = names.map((name) => `${columnOf(name, answered(name))} as ${name}`)
      return `(select row_to_json(answer)::text from (select ${columns.join(', ')}) answer)`
    },
    shape: (schemas) => {
      const properties = answer.map((name): [string, TSchema] => [name, answered(name).schema(schemas)])
      return schemas.closedObject(Object.fromEntries(properties), description)
    },
    columns: rowParts.map(({ column }) => column),
    answerColumns: rowParts
      .filter(({ field }) => field === undefined || !notAnswered.includes(field))
      .map(({ column }) => column),
    fields: Object.keys(fields),
    answer,
  }
}

function checksOf(fields: LineFields): [required: Checks, optional: Checks] {
  const checks = (isOptional: boolean) =>
    Object.fromEntries(
      Object.entries(fields)
        .filter(([, field]) => (field.kind === 'column' && field.isOptional) === isOptional)
        .map(([name, { check }]) => [name, check]),
    )
  return [checks(false), checks(true)]
}

function rowPartsOf(fields: LineFields, places: PlaceColumns<never>): RowPart[] {
  const ofFields = Object.entries(fields).flatMap(([name, field]): RowPart[] =>
    field.kind === 'column'
      ? [{ column: name + field.unit, field: name, make: field.toColumn }]
      : Object.entries(field.columns).map(([column, make]) => ({ column, field: name, make })),
  )
  const ofPlaces = Object.entries(places).map(
    ([column, make]): RowPart => ({ column, field: undefined, make }),
  )
  return [...ofFields, ...ofPlaces]
}

function linePart(name: string, field: LineField): TextPart {
  if (field.kind !== 'column' || !field.lineText) return answerPart(name, field)
  return { name, column: name + field.unit, write: field.lineText, isOptional: true }
}

function answerPart(name: string, field: LineField | AnyDerived): TextPart {
  const column = field.kind === 'column' ? name + field.unit : undefined
  return { name, column, write: field.text, isOptional: false }
}

/** They write a column as PostgreSQL does. */
const WRITTEN_ALIKE: ReadonlySet<unknown> = new Set([textJson, plainJson, decimalJson, scalarJson])

function columnOf(name: string, field: LineField | AnyDerived): string {
  if (field.kind === 'column' && WRITTEN_ALIKE.has(field.text)) return name + field.unit
  if (field.kind === 'derived' && field.column !== undefined) return field.column
  throw new TypeError(`PostgreSQL does not write this field as answers have it: ${name}`)
}

function assertComplete({
  fields,
  derived,
  answer,
  notAnswered,
}: {
  readonly fields: LineFields
  readonly derived: DerivedFields
  readonly answer: readonly string[]
  readonly notAnswered: readonly string[]
}): void {
  const named = [...answer, ...notAnswered]
  const twice = named.filter((name, index) => named.indexOf(name) < index)
  const missing = [...Object.keys(fields), ...Object.keys(derived)].filter((name) => !named.includes(name))
  if (twice.length > 0) throw new TypeError(`Named twice in answer and notAnswered: ${twice.join(', ')}`)
  if (missing.length > 0)
    throw new TypeError(`Named in neither answer nor notAnswered: ${missing.join(', ')}`)
}

/** The types of a record. */
export type Row<R> = R extends { readonly line: (row: infer Row, ...rest: never) => string } ? Row : never
export type Line<R> = R extends { readonly check: Check<infer Line> } ? Line : never
/** What of a row its answers are made of. */
export type AnswerRow<R> = R extends { readonly json: (row: infer Row, ...rest: never) => string }
  ? Row
  : never
