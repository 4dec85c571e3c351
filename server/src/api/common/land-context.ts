import type { World } from '@landpass/client/grid'
import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import type { State } from '../../state/state.ts'

/** What the land's routes need, and all they can reach. */
export interface LandContext {
  readonly db: Db
  readonly clock: Clock
  readonly world: World
  /** @throws {AppError} `world_not_loaded` */
  state(): State
}
