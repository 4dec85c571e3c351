import type { Area } from '@landpass/client/grid'
import {
  filePieces,
  GEOJSON_FRAME,
  gridLines,
  lineJson,
  NDJSON_FRAME,
  type RowFormat,
} from '../common/row-files.ts'
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
  'district_id',
  'tokenId',
  'price',
  'expiresAt',
]

/** A file format for the parcels of a whole world. */
export interface ParcelFormat extends Omit<RowFormat<Tile>, 'write'> {
  readonly fileName: string
  /** @returns a function that writes one parcel */
  parcelWriter(bounds: Area): (tile: Tile) => string
}

/** GeoJSON (RFC 7946): a square for each parcel, exactly where the image tiles show it. */
export const GEOJSON: ParcelFormat = {
  ...GEOJSON_FRAME,
  fileName: 'parcels.geojson',
  parcelWriter: (bounds) => {
    const { lonAt, latAt } = gridLines(bounds)
    // Map viewers turn the id of a feature into a number: -150 for "-150,150". So it is a property, too.
    const propertiesOf = tileWriter(['id', ...FIELDS])
    return (tile) => {
      const { x, y } = tile
      const [west, east, south, north] = [lonAt(x), lonAt(x + 1), latAt(y), latAt(y + 1)]
      // Counter-clockwise from the south-west, and closed.
      const ring = `[[${west},${south}],[${east},${south}],[${east},${north}],[${west},${north}],[${west},${south}]]`
      return `{"type":"Feature","id":"${x},${y}","geometry":{"type":"Polygon","coordinates":[${ring}]},"properties":${propertiesOf(tile)}}`
    }
  },
}

/** A line of JSON for each parcel. */
export const NDJSON: ParcelFormat = {
  ...NDJSON_FRAME,
  fileName: 'parcels.ndjson',
  parcelWriter: () => {
    const write = tileWriter(['id', ...FIELDS, 'updatedAt'])
    return (tile) => lineJson(write(tile))
  },
}

/** The parcels of the world, by x ascending, then y descending, in pieces that are made when the client reads them. */
export function parcelPieces(source: TileSource, format: ParcelFormat): Generator<Uint8Array> {
  return filePieces({ ...format, write: format.parcelWriter(source.bounds) }, tilesOf(source))
}

function* tilesOf(source: TileSource): Generator<Tile> {
  for (let row = 0; row < source.parcels.inWorld; row++) yield tileAt(source, row)
}
