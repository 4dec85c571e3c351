/**
 * What {@link parseExactJson} makes of a type: a number that JavaScript would round is the text of its digits.
 */
export type Exact<Data> = Data extends number
  ? number | string
  : Data extends object
    ? { [Field in keyof Data]: Exact<Data[Field]> }
    : Data

/** A text of the JSON (which is skipped), or a number. */
const TEXT_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/**
 * Like `JSON.parse`, but with every digit: a number that a double cannot hold as it is written comes as its text.
 * Prices have up to 18 decimals, of which a double keeps about 16 digits in all.
 *
 * @throws {SyntaxError} for what is no JSON
 * @example
 * parseExactJson('[1.5, 0.123456789012345678]') // [1.5, '0.123456789012345678']
 */
export function parseExactJson(json: string): unknown {
  return JSON.parse(
    json.replace(TEXT_OR_NUMBER, (token) =>
      token.startsWith('"') || String(Number(token)) === token ? token : `"${token}"`,
    ),
  )
}
