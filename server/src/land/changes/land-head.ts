import type { Db } from '../../db/engine.ts'

/** Which world is shown and the revision behind every ETag. */
export interface LandHead {
  readonly lineage: string
  /** Null until the first import. */
  readonly worldId: number | null
  readonly revision: number
  readonly changedAtMs: number
}

/** Where a committed change is announced; the payload is the new revision. */
export const LAND_CHANNEL = 'land'

export async function readLandHead(db: Db): Promise<LandHead> {
  const row = await db
    .selectFrom('land_state')
    .select(['lineage', 'world_id', 'revision', 'changed_at_ms'])
    .executeTakeFirstOrThrow()
  return {
    lineage: row.lineage,
    worldId: row.world_id,
    revision: row.revision,
    changedAtMs: row.changed_at_ms,
  }
}
