import type { World } from '@landpass/client/grid'
import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import type { State } from '../../state/state.ts'

/** Everything that the land's routes use. */
export interface LandContext {
  readonly db: Db
  readonly clock: Clock
  readonly world: World
  /** @throws {AppError} `world_not_loaded` */
  state(): State
}
