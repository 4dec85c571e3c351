const COLUMN_TYPES = { Uint8Array, Int16Array, Int32Array, Uint32Array, Float64Array } as const
type ColumnType = keyof typeof COLUMN_TYPES
export type Column = InstanceType<(typeof COLUMN_TYPES)[ColumnType]>

/** Stands in the JSON in place of a column. */
interface ColumnPlace {
  readonly column: ColumnType
  readonly length: number
}

/** A value as JSON, with its typed arrays ("columns") apart. */
export interface Flat {
  readonly json: string
  readonly columns: readonly Column[]
}

/**
 * Splits a value of objects, lists, texts, numbers and typed arrays into JSON and typed arrays; {@link unflatten} is
 * the inverse. Lists may contain undefined; null is not allowed anywhere.
 *
 * @throws {TypeError} for a typed array of another type than those of COLUMN_TYPES
 */
export function flatten(value: unknown): Flat {
  const columns: Column[] = []
  const strip = (inner: unknown): unknown => {
    if (!isObjectOrList(inner)) return inner
    // A list without objects, such as a long list of names, needs no copy.
    if (Array.isArray(inner)) return inner.some(isObjectOrList) ? inner.map(strip) : inner
    if (!ArrayBuffer.isView(inner)) return mapValues(inner, strip)
    const column = inner as Column
    columns.push(column)
    return { column: typeOf(column), length: column.length } satisfies ColumnPlace
  }
  return { json: JSON.stringify(strip(value)), columns }
}

/**
 * The value, and its columns for the caller to fill, in the order of {@link flatten}.
 *
 * @param maxBytes the most bytes that all columns together may have
 * @throws {Error} for JSON that does not come from {@link flatten}
 */
export function unflatten(json: string, maxBytes: number): { value: unknown; columns: readonly Column[] } {
  const columns: Column[] = []
  let bytes = 0
  const revive = (inner: unknown): unknown => {
    if (Array.isArray(inner)) return inner.map(revive)
    if (typeof inner !== 'object' || inner === null) return inner ?? undefined
    if (!('column' in inner)) return mapValues(inner, revive)
    const { column: type, length } = inner as ColumnPlace
    const size = COLUMN_TYPES[type].BYTES_PER_ELEMENT * length
    bytes += size
    if (!(size >= 0 && bytes <= maxBytes)) throw new RangeError('the columns are larger than the file')
    const column = new COLUMN_TYPES[type](unwritten(size))
    columns.push(column)
    return column
  }
  return { value: revive(JSON.parse(json)), columns }
}

/** Memory with undefined content: the caller fills it, and clearing it takes half as long as reading the file. */
function unwritten(bytes: number): ArrayBuffer {
  return Buffer.allocUnsafeSlow(bytes).buffer
}

function isObjectOrList(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function mapValues(value: object, change: (inner: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, change(inner)]))
}

/** The name of a column's type; a `Buffer` counts as `Uint8Array`. */
function typeOf(column: Column): ColumnType {
  const found = Object.entries(COLUMN_TYPES).find(([, type]) => column instanceof type)
  if (!found) throw new TypeError('a column of this type cannot be written')
  return found[0] as ColumnType
}
