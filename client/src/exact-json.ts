/**
 * The type of {@link parseExactJson} for data of a type: a number that JavaScript would round is the text of its
 * digits.
 */
export type Exact<Data> = Data extends number
  ? number | string
  : Data extends object
    ? { [Field in keyof Data]: Exact<Data[Field]> }
    : Data

/** A string of the JSON (which is skipped), or a number. */
const TEXT_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/**
 * Like `JSON.parse`, but with every digit: a number that a double would round is returned as its text. Prices have up
 * to 18 decimals, and a double has about 16 digits in all.
 *
 * @throws {SyntaxError} for text that is no JSON
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
