import { deserialize, serialize } from 'node:v8'

/** A row of a table whose rows have numbers. */
interface KeyedRow {
  readonly key: number
}

/** A row is never cut: one that does not fit begins the next page. Most have 300 bytes. */
const PAGE_BYTES = 1 << 20
/** Before each row: how many bytes follow. */
const LENGTH_BYTES = 4
/** Before a text that stands for hex digits. No text of a row has this character: PostgreSQL refuses it. */
const HEX_MARK = '\u0000'
const HEX = /^0x(?:[0-9a-f]{2})+$/

/**
 * Rows as bytes outside of the heap: such rows take a third of the memory, and the garbage collector does not visit them. For
 * rows that are seldom read again.
 *
 * @example
 * const rows = new PackedRows<BidRow>()
 * rows.put(bid)
 * rows.get(bid.key) // an equal row
 */
export class PackedRows<Row extends KeyedRow> {
  private readonly pages: Buffer[] = []
  /** Where the last page goes on. */
  private end = PAGE_BYTES
  /** By key: where the row begins, counted over all pages. Keys have few gaps, so this is a third of a map. */
  private readonly places: (number | undefined)[] = []
  /** The columns of rows, in each order that they come in: few. */
  private readonly columns: (readonly string[])[] = []

  has(key: number): boolean {
    return this.places[key] !== undefined
  }

  get(key: number): Row | undefined {
    const place = this.places[key]
    if (place === undefined) return undefined
    const page = this.pages[Math.floor(place / PAGE_BYTES)]!
    const begin = (place % PAGE_BYTES) + LENGTH_BYTES
    return this.unpacked(page.subarray(begin, begin + page.readUInt32LE(begin - LENGTH_BYTES)))
  }

  /** The bytes of a row that had the same key stay unused. @throws {RangeError} for a row of more than a mebibyte */
  put(row: Row): void {
    const bytes = this.packed(row)
    const length = LENGTH_BYTES + bytes.length
    if (length > PAGE_BYTES) throw new RangeError(`a row of ${bytes.length} bytes cannot be packed`)
    if (this.end + length > PAGE_BYTES) {
      this.pages.push(Buffer.allocUnsafeSlow(PAGE_BYTES))
      this.end = 0
    }
    const page = this.pages.at(-1)!
    page.writeUInt32LE(bytes.length, this.end)
    page.set(bytes, this.end + LENGTH_BYTES)
    this.places[row.key] = (this.pages.length - 1) * PAGE_BYTES + this.end
    this.end += length
  }

  remove(key: number): void {
    if (this.has(key)) this.places[key] = undefined
  }

  /** The smallest first. */
  *keys(): Generator<number> {
    for (const key of this.places.keys()) if (this.has(key)) yield key
  }

  private packed(row: Row): Buffer {
    return serialize([this.columnsNumber(row), ...Object.values(row).map(packedValue)])
  }

  private unpacked(bytes: Buffer): Row {
    const [columnsNumber, ...values] = deserialize(bytes) as [number, ...unknown[]]
    const columns = this.columns[columnsNumber]!
    // The columns are those of the row that was packed
    return Object.fromEntries(
      columns.map((column, at) => [column, unpackedValue(values[at])]),
    ) as unknown as Row
  }

  /** Which entry of `columns` the row has. */
  private columnsNumber(row: Row): number {
    const names = Object.keys(row)
    const known = this.columns.findIndex(
      (one) => one.length === names.length && one.every((name, at) => name === names[at]),
    )
    return known === -1 ? this.columns.push(names) - 1 : known
  }
}

/** A text of hex digits as half as many characters, one for each byte. */
function packedValue(value: unknown): unknown {
  if (typeof value !== 'string' || !HEX.test(value)) return value
  return HEX_MARK + Buffer.from(value.slice(2), 'hex').toString('latin1')
}

function unpackedValue(value: unknown): unknown {
  if (typeof value !== 'string' || !value.startsWith(HEX_MARK)) return value
  return `0x${Buffer.from(value.slice(1), 'latin1').toString('hex')}`
}
