import type { Area, Coord } from '@landpass/client/grid'
import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import { PARCEL, type ParcelTable } from '../records/parcel.ts'
import { columnsWithoutText, NO_TEXT } from './without-text.ts'

const COLUMNS = columnsWithoutText<ParcelTable>(PARCEL.columns)

/** The parcels of an area, by x ascending, then y descending. */
export async function parcelsIn(
  db: Db,
  worldId: number,
  { minX, maxX, minY, maxY }: Area,
): Promise<readonly ParcelTable[]> {
  return db
    .selectFrom('parcel')
    .select(['world_id', ...COLUMNS, NO_TEXT])
    .where('world_id', '=', worldId)
    .where('x', '>=', minX)
    .where('x', '<=', maxX)
    .where('y', '>=', minY)
    .where('y', '<=', maxY)
    .orderBy('x')
    .orderBy('y', 'desc')
    .execute()
}

/** Rows of one query about parcels outside of the world: usually there are few. */
const PAGE_ROWS = 2000

/** The parcels outside of an area, by x ascending, then y ascending, some at a time. */
export async function* parcelsOutside(
  db: Db,
  worldId: number,
  { minX, maxX, minY, maxY }: Area,
): AsyncGenerator<readonly ParcelTable[]> {
  let last: Coord | undefined
  do {
    const after = last
    const page = await db
      .selectFrom('parcel')
      .select(['world_id', ...COLUMNS, NO_TEXT])
      .where('world_id', '=', worldId)
      .where((eb) => eb.or([eb('x', '<', minX), eb('x', '>', maxX), eb('y', '<', minY), eb('y', '>', maxY)]))
      .$if(after !== undefined, (query) => query.where(sql<boolean>`(x, y) > (${after!.x}, ${after!.y})`))
      .orderBy('x')
      .orderBy('y')
      .limit(PAGE_ROWS)
      .execute()
    yield page
    last = page.length < PAGE_ROWS ? undefined : page.at(-1)
  } while (last)
}

/** The ids of the districts that are roads, or plazas: the tags of the parcels near them name them. */
export async function districtsNearParcels(
  db: Db,
  worldId: number,
  kind: 'road' | 'plaza',
): Promise<ReadonlySet<string>> {
  const column = `${kind}_district_id` as const
  const rows = await db
    .selectFrom('parcel')
    .select(`${column} as id`)
    .distinct()
    .where('world_id', '=', worldId)
    .where(column, 'is not', null)
    .execute()
  return new Set(rows.map(({ id }) => id as string))
}
