import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Clock } from '../../../src/clock.ts'
import { readConfig } from '../../../src/config/config.ts'
import type { Db } from '../../../src/db/engine.ts'
import { readLandHead } from '../../../src/land/changes/land-head.ts'
import { LAND_TABLES } from '../../../src/land/records/tables.ts'
import { importSnapshot } from '../../../src/land/snapshot/import.ts'
import { partitionOf } from '../../../src/land/snapshot/worlds.ts'

/** A hash of every row of the world that is shown: equal for equal worlds, on either engine. */
export async function shownWorld(db: Db): Promise<string> {
  const { worldId } = await readLandHead(db)
  if (worldId === null) return 'no world'
  const hash = createHash('sha256')
  for (const table of LAND_TABLES) {
    const { rows } = await sql<{ hash: string | null }>`
      select md5(string_agg(row_hash, '' order by row_hash)) as hash
      from (select md5((to_jsonb(t) - 'world_id')::text) as row_hash from ${sql.table(table)} t
            where world_id = ${worldId}) as hashes`.execute(db)
    hash.update(`${table} ${rows[0]?.hash}\n`)
  }
  return hash.digest('hex')
}

/** What the database holds of worlds besides the one that is shown: rows of land_world, and tables. */
export async function leftovers(db: Db): Promise<readonly string[]> {
  const { worldId } = await readLandHead(db)
  const worlds = await db.selectFrom('land_world').select('world_id').execute()
  const shownTables = new Set(worldId === null ? [] : LAND_TABLES.map((table) => partitionOf(table, worldId)))
  const { rows: tables } = await sql<{ name: string }>`
    select relname as name from pg_class where relkind = 'r' and relname ~ '_w\\d+$'`.execute(db)
  return [
    ...worlds.filter(({ world_id }) => world_id !== worldId).map(({ world_id }) => `world ${world_id}`),
    ...tables.filter(({ name }) => !shownTables.has(name)).map(({ name }) => `table ${name}`),
  ]
}

/** Imports in this process. @throws when the snapshot is refused */
export async function importWorld(db: Db, folder: string, clock: Clock): Promise<void> {
  const report = await importSnapshot(db, folder, { world: readConfig({}).world, clock, dryRun: false })
  if (!report.ok) throw new Error(`${folder} is refused: ${JSON.stringify(report.errors)}`)
}
