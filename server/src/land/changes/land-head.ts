import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'

/** Which world is shown and the revision behind every ETag. */
export interface LandHead {
  readonly lineage: string
  /** Null until the first import. */
  readonly worldId: number | null
  readonly revision: number
  readonly changedAtMs: number
}

/** The head as it is in the database. */
export interface StoredHead extends LandHead {
  /** Whether the database is where it got its lineage (lineage.ts); `new` before the first start. */
  readonly place: 'same' | 'moved' | 'new'
  /** Where its folder was then; null with PostgreSQL, and before the first start. */
  readonly folder: string | null
}

/** Where a committed change is announced; the payload is the new revision. */
export const LAND_CHANNEL = 'land'

export async function readLandHead(db: Db): Promise<StoredHead> {
  // One statement, because the next one may be answered by a promoted standby. A standby has no place.
  const { rows } = await sql<StoredHead>`
    select lineage, world_id as "worldId", revision, changed_at_ms as "changedAtMs",
      case
        when here.place is null or here.place = land_place.place then 'same'
        when land_place.place is null then 'new'
        else 'moved'
      end as place, land_place.folder
    from land_state
    cross join lateral (select database_place(land_state.tableoid) as place offset 0) as here
    left join land_place on true`.execute(db)
  return rows[0]!
}
