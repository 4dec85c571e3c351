import { sql } from 'kysely'
import type { Db } from '../../db/engine.ts'
import type { BlockId } from './chain-position.ts'

/** Which world is shown and the revision behind every ETag. */
export interface LandHead {
  readonly lineage: string
  /** Null until the first import. */
  readonly worldId: number | null
  readonly revision: number
  readonly changedAtMs: number
  /** The block that the rows of this revision are at, read together with it; null where the world does not follow a chain. */
  readonly block: BlockId | null
}

/** The head as it is in the database. */
export interface StoredHead extends LandHead {
  /** Whether the database is where it got its lineage (lineage.ts); `new` before the first start. */
  readonly location: 'same' | 'moved' | 'new'
  /** Where its folder was then; null with PostgreSQL, and before the first start. */
  readonly folder: string | null
}

/** Where a committed change is announced; the payload is the new revision. */
export const LAND_CHANNEL = 'land'

/**
 * One statement, because the next one may be answered by a promoted standby. A standby has no location. The limit tells the
 * planner that there is one row: tables that small are never analyzed.
 */
export const LAND_HEAD = sql<StoredHead>`
  select lineage, land_state.world_id as "worldId", revision, changed_at_ms as "changedAtMs",
    case
      when here.location is null or here.location = land_location.location then 'same'
      when land_location.location is null then 'new'
      else 'moved'
    end as location, land_location.folder,
    case when chain_position.world_id is not null
      then json_build_object('number', chain_position.block_number, 'hash', chain_position.block_hash)
    end as block
  from land_state
  cross join lateral (select database_location(land_state.tableoid) as location offset 0) as here
  left join land_location on true
  left join chain_position on chain_position.world_id = land_state.world_id
  limit 1`

export async function readLandHead(db: Db): Promise<StoredHead> {
  const { rows } = await LAND_HEAD.execute(db)
  return rows[0]!
}
