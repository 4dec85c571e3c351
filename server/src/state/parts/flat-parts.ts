const COLUMN_TYPES = { Uint8Array, Int16Array, Int32Array, Uint32Array, Float64Array } as const
type ColumnType = keyof typeof COLUMN_TYPES
export type Column = InstanceType<(typeof COLUMN_TYPES)[ColumnType]>

/** What stands in the JSON for a column. */
interface ColumnPlace {
  readonly column: ColumnType
  readonly length: number
}

/** A value of objects, lists, texts, numbers and typed arrays as JSON, and the typed arrays beside it. */
export interface Flat {
  readonly json: string
  readonly columns: readonly Column[]
}

/** {@link unflatten} is the way back. Undefined may stand in lists; null has no meaning and stands nowhere. */
export function flatten(value: unknown): Flat {
  const columns: Column[] = []
  const strip = (inner: unknown): unknown => {
    if (!isObject(inner)) return inner
    // Long lists are lists of texts, and go into the JSON as they are.
    if (Array.isArray(inner)) return inner.some(isObject) ? inner.map(strip) : inner
    if (!ArrayBuffer.isView(inner)) return mapValues(inner, strip)
    const column = inner as Column
    columns.push(column)
    return { column: typeOf(column), length: column.length } satisfies ColumnPlace
  }
  return { json: JSON.stringify(strip(value)), columns }
}

/**
 * The value, with columns for the caller to fill, in the order in which {@link flatten} gave them.
 *
 * @param maxBytes what all columns have together at most
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
    if (!(size >= 0 && bytes <= maxBytes)) throw new RangeError('the columns are larger than they can be')
    const column = new COLUMN_TYPES[type](unwritten(size))
    columns.push(column)
    return column
  }
  return { value: revive(JSON.parse(json)), columns }
}

/** Memory that nobody has cleared: it is filled before it is read, and clearing it takes half as long as reading. */
function unwritten(bytes: number): ArrayBuffer {
  return Buffer.allocUnsafeSlow(bytes).buffer
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function mapValues(value: object, change: (inner: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, change(inner)]))
}

/** A Buffer is a Uint8Array by another name. */
function typeOf(column: Column): ColumnType {
  const found = Object.entries(COLUMN_TYPES).find(([, type]) => column instanceof type)
  if (!found) throw new TypeError('a column of this type cannot be kept')
  return found[0] as ColumnType
}
