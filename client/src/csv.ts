/**
 * Tables as text files (RFC 4180): a header, cells in quotes where they need them, CRLF after every row, and a byte
 * order mark, without which spreadsheets take UTF-8 for something else.
 *
 * Names and descriptions are written by strangers, and a spreadsheet runs a cell that begins with `=`, `+`, `-` or `@`.
 * So such a text gets an apostrophe in front of it. The same is done behind `;`, tabs and line breaks within a text,
 * because a spreadsheet that takes those for the end of a cell would begin another one there. Numbers stay numbers, and
 * lists of places (`-12,34;-12,35`) stay as the interface writes them: neither can call anything.
 *
 * A spreadsheet also changes texts that look like numbers, dates or times: the place `-38,128` becomes -38128 or -38.128, and of
 * a token id only 15 digits are kept. They get an apostrophe, too.
 *
 * A program restores the original text by removing one apostrophe wherever this rule put one; see `csv.test.ts`.
 */

export type CsvValue = string | number | boolean | null | undefined
export type CsvRow = readonly CsvValue[]

const BYTE_ORDER_MARK = '\ufeff'
const LINE_END = '\r\n'

/** @example csvText(['id', 'name'], [['1,2', '=1+1']]) // '\ufeffid,name\r\n"\'1,2",\'=1+1\r\n' */
export function csvText(header: readonly string[], rows: readonly CsvRow[]): string {
  return BYTE_ORDER_MARK + linesOf([header, ...rows])
}

/** Like {@link csvText}, in pieces: lines are written as their records are read. */
export async function* csvPieces<One>(
  header: readonly string[],
  batches: AsyncIterable<readonly One[]>,
  rowOf: (record: One) => CsvRow,
): AsyncGenerator<string> {
  yield csvText(header, [])
  for await (const records of batches) yield linesOf(records.map(rowOf))
}

function linesOf(rows: readonly CsvRow[]): string {
  return rows.map((cells) => cells.map(csvCell).join(',') + LINE_END).join('')
}

export function csvCell(value: CsvValue): string {
  const text = typeof value === 'string' ? keptAsText(value) : `${value ?? ''}`
  return /[",;\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A decimal whose whole digits a spreadsheet keeps; of a price it may round the last decimals. */
const PLAIN_NUMBER = /^-?(0|[1-9]\d{0,14})(\.\d+)?$/
const PLACES = /^-?\d+,-?\d+(;-?\d+,-?\d+)+$/
/**
 * What spreadsheets take for a number, a sum, a date or a time, except dates with the name of a month. Apostrophes may
 * precede it, so that one can be removed again.
 */
const CHANGED_BY_SPREADSHEETS = /^'*(?=.*\p{Nd})[\p{Nd}\p{Sc}\p{Zs}()+\-−.,/:%e]+$/iu
/**
 * Where a spreadsheet could begin to read a formula: at the start, or after a character that may end a cell. Spaces,
 * quotes and invisible characters may precede the formula character, which also has wide, small, raised and lowered
 * forms.
 */
const FORMULA_STARTS =
  /(?<=^|[;\t\r\n])(?=[\s"'\p{Cc}\p{Cf}]*[=+\-@＝＋－＠﹦﹢﹣﹫⁼⁺⁻₌₊₋⩵⩶﬩])|^(?='*[\t\r\n])/gu

function keptAsText(text: string): string {
  if (PLAIN_NUMBER.test(text) || PLACES.test(text)) return text
  if (CHANGED_BY_SPREADSHEETS.test(text) && !PLAIN_NUMBER.test(text.replace(/^'+/, ''))) return `'${text}`
  return text.replace(FORMULA_STARTS, "'")
}
