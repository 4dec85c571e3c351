import type { Db } from '../../db/engine.ts'
import type { ParcelRow } from '../events/land-rows.ts'
import { GROUND_COLUMNS, type Ground, groundOf } from './ground.ts'

/** Columns of parcels that one statement reads: a few thousand rows, so that readers of the embedded engine wait little. */
const COLUMNS_OF_STATEMENT = 16

/**
 * The ground that a world was made from, read from its tables: events never change what no log says. So a world can be
 * made again without the snapshot that it began with.
 *
 * @param worldId of a world that stays while it is read: the one that is shown
 */
export async function readGroundOfWorld(db: Db, worldId: number): Promise<Ground> {
  return {
    parcels: await readParcels(db, worldId),
    districts: (await db.selectFrom('district').selectAll().where('world_id', '=', worldId).execute()).map(
      withoutWorld,
    ),
    contributions: (
      await db.selectFrom('contribution').selectAll().where('world_id', '=', worldId).execute()
    ).map(withoutWorld),
    chain: undefined,
  }
}

async function readParcels(db: Db, worldId: number): Promise<readonly ParcelRow[]> {
  const parcels = () => db.selectFrom('parcel').where('world_id', '=', worldId)
  const { west, east } = await parcels()
    .select(({ fn }) => [fn.min('x').as('west'), fn.max('x').as('east')])
    .executeTakeFirstOrThrow()
  const rows: ParcelRow[] = []
  for (let x = west ?? 0; x <= (east ?? -1); x += COLUMNS_OF_STATEMENT) {
    const part = await parcels()
      .select(GROUND_COLUMNS)
      .where('x', '>=', x)
      .where('x', '<', x + COLUMNS_OF_STATEMENT)
      .orderBy('x')
      .orderBy('y')
      .execute()
    for (const row of part) rows.push(groundOf(row))
  }
  return rows
}

function withoutWorld<Row extends { readonly world_id: number }>({ world_id: _, ...row }: Row) {
  return row
}
