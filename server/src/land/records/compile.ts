import type { Coord } from '@landpass/client/grid'

/**
 * Turns lists of fields into functions by generating their source text. A loop over the fields would look up the kind
 * of each value of each row, and takes twice as long for a world of 90,601 parcels. V8 optimizes a function with one
 * call per field.
 *
 * The source is made of names alone, which come from our own definitions and are letters and underscores.
 */

/** One field in a piece of JSON. */
export interface TextPart {
  readonly name: string
  /** Whose value is written; undefined: `write` takes the row and the parcels that it lists. */
  readonly column: string | undefined
  readonly write:
    | ((column: never) => string | undefined)
    | ((row: never, parcels: readonly Coord[]) => string)
  /** Whether `write` may answer undefined, which leaves the field out. Never true of the first field. */
  readonly isOptional: boolean
}

/** One column of a row. */
export interface RowPart {
  readonly column: string
  /** The field of the line of which it is made; undefined: all of the line and its place. */
  readonly field: string | undefined
  /** Left out where the column holds what the field says. */
  readonly make:
    | ((field: never) => unknown)
    | ((line: never, index: number, lists: never) => unknown)
    | undefined
}

/**
 * A function that writes a row as a JSON object.
 *
 * @example
 * const write = compileTextWriter([{ name: 'at', column: 'at_ms', write: digitsJson, isOptional: false }])
 * write({ at_ms: 5 }) // '{"at":"5"}'
 */
export function compileTextWriter<Row>(
  parts: readonly TextPart[],
): (row: Row, parcels?: readonly Coord[]) => string {
  const pieces = parts.map(({ name, column, isOptional }, index) => {
    const start = `'${index === 0 ? '{' : ','}"${safe(name)}":'`
    const value = `call${index}(${column === undefined ? 'row, parcels' : `row.${safe(column)}`})`
    return isOptional ? `unlessMissing(${start}, ${value})` : `${start} + ${value}`
  })
  const source = `(row, parcels = []) => ${pieces.join(' + ')} + '}'`
  return compile(
    source,
    parts.map(({ write }) => write),
  ) as (row: Row, parcels?: readonly Coord[]) => string
}

/**
 * A function that makes the row of a line.
 *
 * @example
 * const toRow = compileRowMaker([{ column: 'at_ms', field: 'at', make: Number }])
 * toRow({ at: '5' }, 0, lists) // { at_ms: 5 }
 */
export function compileRowMaker<Line, Lists, Row>(
  parts: readonly RowPart[],
): (line: Line, index: number, lists: Lists) => Row {
  const columns = parts.map(({ column, field, make }, index) => {
    const value = field === undefined ? 'line, index, lists' : `line.${safe(field)}`
    return `${safe(column)}: ${make === undefined ? value : `call${index}(${value})`}`
  })
  const source = `(line, index, lists) => ({ ${columns.join(', ')} })`
  return compile(
    source,
    parts.map(({ make }) => make),
  ) as (line: Line, index: number, lists: Lists) => Row
}

/** `call0`, `call1` … in the source are the functions of `calls`. */
function compile(source: string, calls: readonly unknown[]): unknown {
  const names = calls.map((_, index) => `call${index}`)
  return new Function('unlessMissing', ...names, `return ${source}`)(unlessMissing, ...calls)
}

function unlessMissing(start: string, value: string | undefined): string {
  return value === undefined ? '' : start + value
}

function safe(name: string): string {
  if (!/^[a-z]\w*$/i.test(name)) throw new TypeError(`No name of a field: ${name}`)
  return name
}
