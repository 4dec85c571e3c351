import { type Area, type Coord, cellOf, isInWorld, type World } from '@landpass/client/grid'
import { SECOND_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { parcelsIn, parcelsOutside } from '../../land/queries/parcel-queries.ts'
import { operatorsOf } from '../../land/records/assets.ts'
import type { ParcelTable } from '../../land/records/parcel.ts'
import { parcelJson } from '../../land/records/parcel.ts'
import { type PagedColumn, pagedColumn } from '../parts/columns.ts'
import { JsonBufferWriter } from '../parts/json-buffer.ts'
import { OwnerIndexWriter, ownerOfRows } from '../parts/owner-index.ts'
import { type AssetRents, type JsonBuffer, NO_DISTANCE, type OwnerIndex } from '../parts/parts.ts'
import { positionsOf } from '../parts/positions.ts'
import { buildRents, type Rent, rentOf } from '../parts/rents.ts'
import { type SaleFacts, saleOfParcel } from '../parts/sales.ts'

export interface BuiltParcels {
  readonly json: JsonBuffer
  readonly x: Int32Array
  readonly y: Int32Array
  readonly inWorld: number
  readonly rowAt: Int32Array
  readonly estateIds: readonly (string | null)[]
  readonly estatePosition: Int32Array
  readonly owners: OwnerIndex
  readonly owner: PagedColumn<Int32Array>
  readonly operators: OwnerIndex
  readonly district: Int16Array
  readonly names: readonly (string | undefined)[]
  readonly updatedAtS: PagedColumn<Uint32Array>
  readonly plazaDistance: Uint8Array
  readonly roadDistance: Uint8Array
  readonly rents: AssetRents
  /** The sales of the parcels that were auctioned. */
  readonly sales: readonly SaleFacts[]
}

const COLUMNS_AT_ONCE = 5

export async function buildParcels(
  db: Db,
  world: World,
  worldId: number,
  districtIds: readonly string[],
): Promise<BuiltParcels> {
  const json = new JsonBufferWriter()
  const rows: ParcelFacts[] = []
  const { bounds } = world
  const outside: ParcelTable[] = []
  const sales: SaleFacts[] = []
  const add = (parcel: ParcelTable) => {
    json.add(parcelPiece(parcel))
    rows.push(factsOf(parcel, districtIds))
    const sale = saleOfParcel(parcel)
    if (sale) sales.push(sale)
  }
  for (let x = bounds.minX; x <= bounds.maxX; x += COLUMNS_AT_ONCE) {
    const columns = { ...bounds, minX: x, maxX: Math.min(x + COLUMNS_AT_ONCE - 1, bounds.maxX) }
    for (const parcel of await parcelsIn(db, worldId, columns)) {
      if (isInWorld(world, parcel)) add(parcel)
      else outside.push(parcel)
    }
  }
  const inWorld = rows.length
  for await (const page of parcelsOutside(db, worldId, bounds)) outside.push(...page)
  for (const parcel of outside.sort((a, b) => a.x - b.x || b.y - a.y)) add(parcel)
  const x = Int32Array.from(rows, (row) => row.x)
  const y = Int32Array.from(rows, (row) => row.y)
  const owners = indexByOwner(rows, byXThenY(x, y))
  return {
    json: json.finish(),
    x,
    y,
    inWorld,
    rowAt: indexByCell(bounds, x.subarray(0, inWorld), y),
    estateIds: rows.map(({ estateId }) => estateId),
    estatePosition: Int32Array.from(rows, (row) => row.estatePosition),
    owners,
    owner: ownerOfRows(owners, rows.length),
    operators: indexByOperator(rows),
    district: Int16Array.from(rows, (row) => row.district),
    names: rows.map(({ name }) => name),
    updatedAtS: pagedColumn(Uint32Array.from(rows, (row) => row.updatedAtS)),
    plazaDistance: Uint8Array.from(rows, (row) => row.plazaDistance),
    roadDistance: Uint8Array.from(rows, (row) => row.roadDistance),
    rents: buildRents(rows.map(({ rent }) => rent)),
    sales,
  }
}

/** What the columns of `ParcelParts` hold of a parcel. */
export interface ParcelFacts extends Coord {
  readonly owner: string | null
  /** Who may operate or update it besides. */
  readonly operators: readonly string[]
  readonly estateId: string | null
  readonly estatePosition: number
  readonly district: number
  readonly name: string | undefined
  readonly updatedAtS: number
  readonly plazaDistance: number
  readonly roadDistance: number
  readonly rent: Rent | undefined
}

export function factsOf(parcel: ParcelTable, districtIds: readonly string[]): ParcelFacts {
  return {
    x: parcel.x,
    y: parcel.y,
    owner: parcel.owner,
    operators: operatorsOf(parcel),
    estateId: parcel.estate_id,
    estatePosition: parcel.estate_position ?? 0,
    district: positionsOf(districtIds).get(parcel.district_id ?? '') ?? -1,
    name: parcel.name || undefined,
    updatedAtS: Math.floor(parcel.updated_at_ms / SECOND_MS),
    plazaDistance: parcel.plaza_distance ?? NO_DISTANCE,
    roadDistance: parcel.road_distance ?? NO_DISTANCE,
    rent: rentOf(parcel),
  }
}

/** A parcel's piece of `ParcelParts.json`. */
export function parcelPiece(parcel: ParcelTable): string {
  return `${parcelJson(parcel)},`
}

function indexByCell(bounds: Area, x: Int32Array, y: Int32Array): Int32Array {
  const cells = (bounds.maxX - bounds.minX + 1) * (bounds.maxY - bounds.minY + 1)
  const rowAt = new Int32Array(cells).fill(-1)
  for (let row = 0; row < x.length; row++) rowAt[cellOf(bounds, { x: x[row]!, y: y[row]! })] = row
  return rowAt
}

/** The order in which an owner's parcels are listed: x, then y, both ascending, as in a snapshot. */
export function byXThenY(x: Int32Array, y: Int32Array): (a: number, b: number) => number {
  return (a, b) => x[a]! - x[b]! || y[a]! - y[b]!
}

function indexByOwner(
  parcels: readonly ParcelFacts[],
  compare: (a: number, b: number) => number,
): OwnerIndex {
  const index = new OwnerIndexWriter()
  const rows = Uint32Array.from(parcels, (_, row) => row).sort(compare)
  for (const row of rows) index.add(parcels[row]!.owner, row)
  return index.finish()
}

/** Assets by the addresses that may operate or update them. */
export function indexByOperator(assets: readonly { readonly operators: readonly string[] }[]): OwnerIndex {
  const index = new OwnerIndexWriter()
  for (const [row, { operators }] of assets.entries())
    for (const operator of operators) index.add(operator, row)
  return index.finish()
}
