import { coordText, type World } from '@landpass/client/grid'
import type { Db } from '../../db/engine.ts'
import type { ParcelRow } from '../events/land-rows.ts'
import { bareGround, GROUND_COLUMNS, type Ground, groundOf } from './ground.ts'

/** Columns of parcels that one statement reads: a few thousand rows, so that readers of the embedded engine wait little. */
const COLUMNS_OF_STATEMENT = 16

/**
 * The ground that a world was made from, read from its tables: events never change what no log says. So a world can be
 * made again without the snapshot that it began with. Parcels outside of `world` are left out, except those of districts.
 *
 * @param worldId of a world that stays while it is read: the one that is shown
 */
export async function readGroundOfWorld(db: Db, worldId: number, world: World): Promise<Ground> {
  const parcels = new Map(bareGround(world, 0).parcels.map((parcel) => [coordText(parcel), parcel]))
  for await (const stored of parcelsOf(db, worldId)) {
    const name = coordText(stored)
    if (parcels.has(name) || stored.district_id !== null) parcels.set(name, groundOf(stored))
  }
  return { ...(await readPlans(db, worldId)), parcels: [...parcels.values()], chain: undefined }
}

/** The ground of a world; undefined where it was not made of a snapshot: it has neither districts nor contributions. */
export async function findGroundOfWorld(db: Db, worldId: number, world: World): Promise<Ground | undefined> {
  const { districts, contributions } = await readPlans(db, worldId)
  return districts.length + contributions.length === 0 ? undefined : readGroundOfWorld(db, worldId, world)
}

async function readPlans(db: Db, worldId: number): Promise<Pick<Ground, 'districts' | 'contributions'>> {
  const districts = await db.selectFrom('district').selectAll().where('world_id', '=', worldId).execute()
  const contributions = await db
    .selectFrom('contribution')
    .selectAll()
    .where('world_id', '=', worldId)
    .execute()
  return { districts: districts.map(withoutWorld), contributions: contributions.map(withoutWorld) }
}

async function* parcelsOf(
  db: Db,
  worldId: number,
): AsyncGenerator<Pick<ParcelRow, (typeof GROUND_COLUMNS)[number]>> {
  const parcels = () => db.selectFrom('parcel').where('world_id', '=', worldId)
  const { west, east } = await parcels()
    .select(({ fn }) => [fn.min('x').as('west'), fn.max('x').as('east')])
    .executeTakeFirstOrThrow()
  for (let x = west ?? 0; x <= (east ?? -1); x += COLUMNS_OF_STATEMENT)
    yield* await parcels()
      .select(GROUND_COLUMNS)
      .where('x', '>=', x)
      .where('x', '<', x + COLUMNS_OF_STATEMENT)
      .orderBy('x')
      .orderBy('y')
      .execute()
}

function withoutWorld<Row extends { readonly world_id: number }>(row: Row): Omit<Row, 'world_id'> {
  const { world_id: _, ...rest } = row
  return rest
}
