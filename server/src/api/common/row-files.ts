import { type Area, lonLatOf, squareHalf } from '@landpass/client/grid'
import type { Format } from '../../http/answer.ts'

/** A file format with a text for each row. */
export interface RowFormat<Row> extends Format {
  readonly start: string
  readonly between: string
  readonly end: string
  write(row: Row): string
}

/** Rows of one piece: some ten kilobytes, made in a millisecond. */
const PIECE_ROWS = 256

/** A file in pieces that are made when the client reads them. Without a row and a start it is empty. */
export function* filePieces<Row>(
  format: Omit<RowFormat<Row>, keyof Format>,
  rows: Iterable<Row>,
): Generator<Uint8Array> {
  let piece = format.start
  let count = 0
  for (const row of rows) {
    piece += (count === 0 ? '' : format.between) + format.write(row)
    count += 1
    if (count % PIECE_ROWS > 0) continue
    yield Buffer.from(piece)
    piece = ''
  }
  if (count > 0 || format.start !== '') yield Buffer.from(piece + format.end)
}

/** What all files of a format have. */
export const GEOJSON_FRAME = {
  contentType: 'application/geo+json',
  start: '{"type":"FeatureCollection","features":[\n',
  between: ',\n',
  end: '\n]}\n',
}
export const NDJSON_FRAME = { contentType: 'application/x-ndjson', start: '', between: '\n', end: '\n' }

/** Characters that many programs take for the end of a line, besides the line feed. */
const OTHER_LINE_ENDS = /[\u0085\u2028\u2029]/g

/** JSON without characters that programs take for the end of a line. */
export function lineJson(json: string): string {
  return json.replace(OTHER_LINE_ENDS, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** Precise to far below a thousandth of a parcel in a world of any size. */
const DEGREE_DECIMALS = 9
/** The texts of this many grid lines are cached: more than nearly every world has, at most 1 MB. */
const MAX_CACHED_LINES = 4_096

/** Writes where grid lines are, in degrees: parcel x,y lies between the lines x and x + 1, and y and y + 1. */
export interface GridLines {
  lonAt(x: number): string
  latAt(y: number): string
}

/** The lines where the image tiles show them. All parcels around a corner write it as the same text. */
export function gridLines(bounds: Area): GridLines {
  const half = squareHalf(bounds)
  return {
    lonAt: cachedTexts((x) => degreesText(lonLatOf(x, 0, half)[0])),
    latAt: cachedTexts((y) => degreesText(lonLatOf(0, y, half)[1])),
  }
}

/** Caches the text of each grid line, up to {@link MAX_CACHED_LINES}. */
function cachedTexts(write: (line: number) => string): (line: number) => string {
  const texts = new Map<number, string>()
  return (line) => {
    const known = texts.get(line)
    if (known !== undefined) return known
    if (texts.size === MAX_CACHED_LINES) texts.clear()
    const text = write(line)
    texts.set(line, text)
    return text
  }
}

function degreesText(degrees: number): string {
  return String(Number(degrees.toFixed(DEGREE_DECIMALS)))
}
