import type { Db } from '../../db/engine.ts'
import type { District } from '../records/district.ts'

/** Id and name of all districts, disabled ones too, in the order of their snapshot. */
export async function districtNames(
  db: Db,
  worldId: number,
): Promise<readonly { readonly id: string; readonly name: string }[]> {
  return db
    .selectFrom('district')
    .select(['id', 'name'])
    .where('world_id', '=', worldId)
    .orderBy('position')
    .execute()
}

/** The enabled districts, by name (then id): a few dozen, so all of them at once. */
export async function readDistricts(db: Db, worldId: number): Promise<readonly District[]> {
  const rows = await db
    .selectFrom('district')
    .select(['id', 'name', 'description', 'link', 'public', 'center'])
    .where('world_id', '=', worldId)
    .where('disabled', '=', false)
    .execute()
  const counts = await db
    .selectFrom('parcel')
    .select(['district_id', (eb) => eb.fn.countAll<number>().as('parcels')])
    .where('world_id', '=', worldId)
    .where('district_id', 'is not', null)
    .groupBy('district_id')
    .execute()
  const countOf = new Map(counts.map(({ district_id, parcels }) => [district_id, Number(parcels)]))
  return rows
    .map((row) => ({ ...row, parcelCount: countOf.get(row.id) ?? 0 }))
    .sort((a, b) => compareText(a.name, b.name) || compareText(a.id, b.id))
}

/** By code unit: the same on every machine and both engines, whatever collation a database has. */
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
