/**
 * Pieces of JSON text written by hand where the order of the fields, the speed or the digits of a number matter.
 * Numbers that are stored as decimal text are written unchanged: parsing them would lose digits beyond the fifteenth.
 */

/**
 * A JSON string, or null.
 *
 * @example
 * textJson('a "b"') // '"a \\"b\\""'
 */
export function textJson(value: string | null): string {
  return value === null ? 'null' : JSON.stringify(value)
}

/** For text that needs no escaping (addresses, hashes, ids, digits): the caller knows its pattern. */
export function plainJson(value: string | null): string {
  return value === null ? 'null' : `"${value}"`
}

/** A number in quotes. */
export function digitsJson(value: number | null): string {
  return value === null ? 'null' : `"${value}"`
}

/**
 * Decimal text as a JSON number.
 *
 * @example
 * decimalJson('1.123456789012345678') // '1.123456789012345678'
 */
export function decimalJson(value: string | null): string {
  return value ?? 'null'
}

/** A number, true, false or null. */
export function scalarJson(value: number | boolean | null): string {
  return String(value)
}

/**
 * A time in milliseconds as ISO 8601 in UTC, in quotes.
 *
 * @example
 * isoJson(0) // '"1970-01-01T00:00:00.000Z"'
 */
export function isoJson(timeMs: number | null): string {
  return timeMs === null ? 'null' : `"${new Date(timeMs).toISOString()}"`
}

/** An array of pieces of JSON. */
export function arrayJson(pieces: readonly string[]): string {
  return `[${pieces.join(',')}]`
}
/** A JSON value in pieces of UTF-8 text, one after another. */
export type JsonPieces = Iterable<Uint8Array>
