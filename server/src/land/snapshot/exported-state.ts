import type { Db } from '../../db/engine.ts'
import { CommandError } from '../../errors.ts'
import type { SnapshotBlock } from './manifest.ts'

/** The world that is shown. */
export interface ExportedState {
  readonly worldId: number
  readonly revision: number
  readonly chain: SnapshotBlock | undefined
}

/** World, revision and block, read by one statement. @throws {CommandError} where there is no world */
export async function readState(db: Db): Promise<ExportedState> {
  const row = await db
    .selectFrom('land_state')
    .leftJoin('chain_position', 'chain_position.world_id', 'land_state.world_id')
    .select(['land_state.world_id', 'revision', 'chain_id', 'block_number', 'block_hash'])
    .executeTakeFirstOrThrow()
  const { world_id: worldId, revision, chain_id, block_number, block_hash } = row
  if (worldId === null) throw new CommandError('There is no world to export: import one first.')
  if (chain_id === null || block_number === null || block_hash === null)
    return { worldId, revision, chain: undefined }
  return { worldId, revision, chain: { chain_id, block_number, block_hash } }
}
