import { type Area, lonLatOf, squareHalf } from '@landpass/client/grid'
import type { Format } from '../../http/answer.ts'
import { type TileField, tileWriter } from '../tile-data/tile-forms.ts'
import { type Tile, type TileSource, tileAt } from '../tile-data/tile-source.ts'

/** The fields of a parcel in every format. */
const FIELDS: readonly TileField[] = [
  'x',
  'y',
  'type',
  'name',
  'owner',
  'estateId',
  'tokenId',
  'price',
  'expiresAt',
]

/** A file format for the parcels of a whole world. */
export interface ParcelFormat extends Format {
  readonly fileName: string
  readonly start: string
  readonly between: string
  readonly end: string
  /** @returns a function that writes one parcel */
  parcelWriter(bounds: Area): (tile: Tile) => string
}

/** GeoJSON (RFC 7946): a square for each parcel, exactly where the image tiles show it. */
export const GEOJSON: ParcelFormat = {
  contentType: 'application/geo+json',
  fileName: 'parcels.geojson',
  start: '{"type":"FeatureCollection","features":[\n',
  between: ',\n',
  end: '\n]}\n',
  parcelWriter: (bounds) => {
    const ringOf = ringWriter(squareHalf(bounds))
    // Map viewers turn the id of a feature into a number: -150 for "-150,150". So it is a property, too.
    const propertiesOf = tileWriter(['id', ...FIELDS])
    return (tile) =>
      `{"type":"Feature","id":"${tile.x},${tile.y}","geometry":{"type":"Polygon","coordinates":[${ringOf(tile)}]},"properties":${propertiesOf(tile)}}`
  },
}

/** Characters that many programs take for the end of a line, besides the line feed. */
const OTHER_LINE_ENDS = /[\u0085\u2028\u2029]/g

/** A line of JSON for each parcel. */
export const NDJSON: ParcelFormat = {
  contentType: 'application/x-ndjson',
  fileName: 'parcels.ndjson',
  start: '',
  between: '\n',
  end: '\n',
  parcelWriter: () => {
    const write = tileWriter(['id', ...FIELDS, 'updatedAt'])
    return (tile) => write(tile).replace(OTHER_LINE_ENDS, escaped)
  },
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/**
 * Parcels of one piece: about 100 kB, made in a millisecond. A piece is not a column, because columns may be very long
 * or very short.
 */
const PIECE_PARCELS = 256

/** The parcels of the world, by x ascending, then y descending, in pieces that are made when the client reads them. */
export function* parcelPieces(source: TileSource, format: ParcelFormat): Generator<Uint8Array> {
  const count = source.parcels.inWorld
  const write = format.parcelWriter(source.bounds)
  yield Buffer.from(format.start)
  for (let from = 0; from < count; from += PIECE_PARCELS) {
    let piece = ''
    for (let row = from; row < Math.min(from + PIECE_PARCELS, count); row++) {
      piece += (row === 0 ? '' : format.between) + write(tileAt(source, row))
    }
    yield Buffer.from(piece)
  }
  if (count > 0 || format.start !== '') yield Buffer.from(format.end)
}

/** Precise to far below a thousandth of a parcel in a world of any size. */
const DEGREE_DECIMALS = 9

/**
 * Writes the outline of a parcel: counter-clockwise from the south-west, and closed. All four parcels around a corner
 * write it as the same text.
 */
function ringWriter(half: number): (tile: Tile) => string {
  const lonAt = cachedTexts((x) => degreesText(lonLatOf(x, 0, half)[0]))
  const latAt = cachedTexts((y) => degreesText(lonLatOf(0, y, half)[1]))
  return ({ x, y }) => {
    const [west, east, south, north] = [lonAt(x), lonAt(x + 1), latAt(y), latAt(y + 1)]
    return `[[${west},${south}],[${east},${south}],[${east},${north}],[${west},${north}],[${west},${south}]]`
  }
}

/** The texts of this many grid lines are cached: more than nearly every world has, at most 1 MB. */
const MAX_CACHED_LINES = 4_096

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
