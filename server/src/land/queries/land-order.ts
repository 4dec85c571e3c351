import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { AssetName } from '../records/assets.ts'

/**
 * The next parcels and estates after one of them, in an order that changes of the land do not change: parcels by x and y, then
 * estates by number.
 *
 * @param after null: from the first one on
 * @param count the most of them
 */
export async function readAssetsAfter(
  db: Db,
  worldId: number,
  { after, count }: { readonly after: AssetName | null; readonly count: number },
): Promise<readonly AssetName[]> {
  const parcels = after?.type === 'estate' ? [] : await parcelsAfter(db, worldId, { after, count })
  if (parcels.length === count) return parcels
  const id = after?.type === 'estate' ? after.id : ''
  const { rows: estates } = await sql<AssetName>`
    select 'estate' as type, id from estate
    where world_id = ${worldId} and (length(id), id) > (${id.length}::integer, ${id}::text)
    order by length(id), id limit ${count - parcels.length}`.execute(db)
  return [...parcels, ...estates]
}

async function parcelsAfter(
  db: Db,
  worldId: number,
  { after, count }: { readonly after: AssetName | null; readonly count: number },
): Promise<readonly AssetName[]> {
  const [x, y] = after === null ? [null, null] : after.id.split(',').map(Number)
  const { rows } = await sql<AssetName>`
    select 'parcel' as type, x || ',' || y as id from parcel
    where world_id = ${worldId} and (${x}::integer is null or (x, y) > (${x}::integer, ${y}::integer))
    order by x, y limit ${count}`.execute(db)
  return rows
}

/** How many parcels and estates a world has. */
export async function countAssets(db: Db, worldId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select ((select count(*) from parcel where world_id = ${worldId})
      + (select count(*) from estate where world_id = ${worldId}))::integer as count`.execute(db)
  return rows[0]!.count
}
