import type { World } from '@landpass/client/grid'
import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import type { CompressedBodies } from '../../http/compressed-bodies.ts'
import type { State } from '../../state/state.ts'

/** Everything that the land's routes use. */
export interface LandContext {
  readonly db: Db
  readonly clock: Clock
  readonly world: World
  /** Large bodies that all clients share. */
  readonly bodies: CompressedBodies
  /** @throws {AppError} `world_not_loaded` */
  state(): State
}
