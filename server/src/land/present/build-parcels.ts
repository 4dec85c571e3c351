import type { Db } from '../../db/engine.ts'
import type { ParcelTable } from '../../db/schema.ts'
import type { Coord } from '../../world/coord.ts'
import type { Area, World } from '../../world/world.ts'
import { parcelJson } from '../parcels/parcel-json.ts'
import { OwnerIndexWriter } from './owner-index.ts'
import type { JsonSlab, OwnerIndex } from './parts.ts'
import { SlabWriter } from './slab-writer.ts'

/** A parcel of an estate, as the parcels' table knows it. */
export interface EstateMember extends Coord {
  readonly row: number
  /** Place in the estate's list of parcels. */
  readonly position: number
}

export interface BuiltParcels {
  readonly json: JsonSlab
  readonly x: Int32Array
  readonly y: Int32Array
  readonly rowAt: Int32Array
  readonly owners: OwnerIndex
  readonly membersOf: ReadonlyMap<string, EstateMember[]>
  rowOf(coord: Coord): number
}

const COLUMNS_AT_ONCE = 5

export async function buildParcels(db: Db, { bounds }: World, worldId: number): Promise<BuiltParcels> {
  const json = new SlabWriter()
  const xs: number[] = []
  const ys: number[] = []
  const ownerOf: (string | null)[] = []
  const membersOf = new Map<string, EstateMember[]>()
  for (let x = bounds.minX; x <= bounds.maxX; x += COLUMNS_AT_ONCE) {
    for (const parcel of await readColumns(
      db,
      worldId,
      x,
      Math.min(x + COLUMNS_AT_ONCE - 1, bounds.maxX),
      bounds,
    )) {
      if (parcel.estate_id !== null)
        addMember(membersOf, parcel.estate_id, { row: xs.length, ...memberOf(parcel) })
      json.add(`${parcelJson(parcel)},`)
      xs.push(parcel.x)
      ys.push(parcel.y)
      ownerOf.push(parcel.owner)
    }
  }
  const x = Int32Array.from(xs)
  const y = Int32Array.from(ys)
  const rowAt = indexByCell(bounds, x, y)
  return {
    json: json.finish(),
    x,
    y,
    rowAt,
    owners: indexByOwner(ownerOf, x, y),
    membersOf,
    rowOf: (coord) => rowAt[cellOf(bounds, coord)] ?? -1,
  }
}

/** Whole columns of parcels, from west to east and from north to south. */
async function readColumns(
  db: Db,
  worldId: number,
  fromX: number,
  toX: number,
  bounds: Area,
): Promise<readonly ParcelTable[]> {
  return db
    .selectFrom('parcel')
    .selectAll()
    .where('world_id', '=', worldId)
    .where('x', '>=', fromX)
    .where('x', '<=', toX)
    .where('y', '>=', bounds.minY)
    .where('y', '<=', bounds.maxY)
    .orderBy('x')
    .orderBy('y', 'desc')
    .execute()
}

function memberOf({ x, y, estate_position }: ParcelTable) {
  return { x, y, position: estate_position ?? 0 }
}

function addMember(membersOf: Map<string, EstateMember[]>, estateId: string, member: EstateMember): void {
  const members = membersOf.get(estateId)
  if (members) members.push(member)
  else membersOf.set(estateId, [member])
}

/** The place of a cell in `rowAt`: columns from west to east, each from north to south. Outside: -1. */
export function cellOf({ minX, minY, maxX, maxY }: Area, { x, y }: Coord): number {
  if (x < minX || x > maxX || y < minY || y > maxY) return -1
  return (x - minX) * (maxY - minY + 1) + (maxY - y)
}

function indexByCell(bounds: Area, x: Int32Array, y: Int32Array): Int32Array {
  const cells = (bounds.maxX - bounds.minX + 1) * (bounds.maxY - bounds.minY + 1)
  const rowAt = new Int32Array(cells).fill(-1)
  for (let row = 0; row < x.length; row++) rowAt[cellOf(bounds, { x: x[row]!, y: y[row]! })] = row
  return rowAt
}

/** An owner's parcels are listed by x, then y, both ascending: the order of the snapshot. */
function indexByOwner(ownerOf: readonly (string | null)[], x: Int32Array, y: Int32Array): OwnerIndex {
  const index = new OwnerIndexWriter()
  const rows = Uint32Array.from(ownerOf, (_, row) => row).sort((a, b) => x[a]! - x[b]! || y[a]! - y[b]!)
  for (const row of rows) index.add(ownerOf[row]!, row)
  return index.finish()
}
