import { csvCell, csvText } from '@landpass/client/csv'
import { type Coord, coordText } from '@landpass/client/grid'
import { geometryJson } from '../common/outlines.ts'
import { GEOJSON_FRAME, gridLines, lineJson, NDJSON_FRAME, type RowFormat } from '../common/row-files.ts'
import { nameOfNumber } from './asset-numbers.ts'
import { LAND_ROW_SHAPES } from './land-row-shapes.ts'
import { type LandRow, landRow, parcelsOf } from './land-rows.ts'
import type { LandView } from './land-view.ts'

/** Files of land: a text for each asset. */

/** A format of assets, given by their numbers. @param withParcels whether rows have their parcels */
export type LandFormat = (view: LandView, withParcels: boolean) => RowFormat<number>

/** A row as it is answered. */
export function rowOf(view: LandView, asset: number, withParcels: boolean): LandRow & { parcels?: object[] } {
  const row = landRow(view, asset)
  return withParcels ? { ...row, parcels: parcelsOf(view, asset) } : row
}

export const LAND_NDJSON: LandFormat = (view, withParcels) => ({
  ...NDJSON_FRAME,
  fileName: 'land.ndjson',
  write: (asset) => lineJson(JSON.stringify(rowOf(view, asset, withParcels))),
})

interface Column {
  readonly column: string
  readonly name: string
  /** The field of an object within the row. */
  readonly field: string | undefined
}

type Shape = Readonly<Record<string, unknown>>

/** The fields of a row, those of objects within it beside the others: `offer_price` is `price` of `offer`. */
const COLUMNS: readonly Column[] = Object.entries(
  // As plain JSON: the types of schemas do not show what is inside of `anyOf`
  LAND_ROW_SHAPES.LandRow.properties as unknown as Readonly<Record<string, Shape>>,
)
  .filter(([name]) => name !== 'parcels')
  .flatMap(([name, { anyOf = [] }]): Column[] => {
    const inner = (anyOf as readonly Shape[]).find(({ properties }) => properties)?.properties ?? {}
    // A list has no cell.
    const fields = Object.keys(inner).filter(
      (field) => (inner as Record<string, Shape>)[field]!.type !== 'array',
    )
    if (fields.length === 0) return [{ column: name, name, field: undefined }]
    return fields.map((field) => ({ column: `${name}_${field}`, name, field }))
  })
const HEADER = COLUMNS.map(({ column }) => column)

type Value = string | number | null

/** The values of a row, in the order of {@link COLUMNS}. */
function flat(row: LandRow): Value[] {
  const values = row as Readonly<Record<string, Value | Readonly<Record<string, Value>>>>
  return COLUMNS.map(({ name, field }) => {
    const value = values[name] ?? null
    return value === null || typeof value !== 'object' ? value : (value[field!] ?? null)
  })
}

export const LAND_CSV: LandFormat = (view, withParcels) => ({
  contentType: 'text/csv; charset=utf-8',
  fileName: 'land.csv',
  start: csvText(withParcels ? [...HEADER, 'parcels'] : HEADER, []),
  between: '',
  end: '',
  write: (asset) => {
    const cells = flat(landRow(view, asset)).map(csvCell)
    if (withParcels) cells.push(csvCell(parcelsText(parcelsOf(view, asset))))
    return `${cells.join(',')}\r\n`
  },
})

function parcelsText(parcels: readonly Coord[]): string {
  return parcels.map(coordText).join(';')
}

/** GeoJSON (RFC 7946): the outline of each asset, exactly where the image tiles show it. */
export const LAND_GEOJSON: LandFormat = (view, withParcels) => {
  const lines = gridLines(view.bounds)
  return {
    ...GEOJSON_FRAME,
    fileName: 'land.geojson',
    write: (asset) => {
      const row = landRow(view, asset)
      const parcels = parcelsOf(view, asset)
      // Map viewers turn the id of a feature into a number, so it is a property, too.
      const id = nameOfNumber(view, asset)
      const properties = Object.fromEntries([['id', id], ...flat(row).map((value, i) => [HEADER[i], value])])
      if (withParcels) properties.parcels = parcelsText(parcels)
      return `{"type":"Feature","id":"${id}","geometry":${geometryJson(parcels, lines)},"properties":${JSON.stringify(properties)}}`
    },
  }
}
