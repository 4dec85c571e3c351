import pg from 'pg'
import utils from 'pg/lib/utils.js'

/** Turns the text that PostgreSQL sends for a value into the value that the server works with. */
export type ParseText = (text: string) => unknown

/** A parameter as it travels to either engine: text, bytes or SQL null. */
export type Param = string | Uint8Array | null

const { builtins } = pg.types
const INT8_ARRAY = 1016
const NUMERIC_ARRAY = 1231
const TEXT_ARRAY = 1009

const parseTextArray = defaultParserOf(TEXT_ARRAY) as (text: string) => unknown[]

/** The types that are not parsed as `pg` does by default. All others are, on both engines. */
const OWN_PARSERS: ReadonlyMap<number, ParseText> = new Map<number, ParseText>([
  [builtins.INT8, parseInt8],
  [
    INT8_ARRAY,
    (text) => parseTextArray(text).map((item) => (item === null ? null : parseInt8(String(item)))),
  ],
  // `pg` would make floats of these and lose digits
  [NUMERIC_ARRAY, parseTextArray],
])

/** The one table of row types: the same JavaScript value for the same SQL value, whichever engine it came from. */
export function parserOf(typeId: number): ParseText {
  return OWN_PARSERS.get(typeId) ?? defaultParserOf(typeId)
}

function defaultParserOf(typeId: number): ParseText {
  return pg.types.getTypeParser(typeId, 'text') as ParseText
}

/**
 * The table as `pg` takes it, for one pool: `pg.types.setTypeParser` would change it for every user of `pg` in
 * this process.
 */
export const ROW_TYPES: pg.CustomTypesConfig = {
  getTypeParser: (typeId: number, format?: string) =>
    format === 'binary' ? pg.types.getTypeParser(typeId, 'binary') : parserOf(typeId),
}

/** A parameter as text, by the rules of `pg`: objects become JSON, arrays become array literals. */
export function toParam(value: unknown): Param {
  return utils.prepareValue(value)
}

/** @throws {RangeError} beyond 2^53: a number that is silently another number must not leave the database. */
function parseInt8(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} is not a safe integer`)
  return value
}
