import type { World } from '@landpass/client/grid'
import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import type { CompressedBodies } from '../../http/compressed-bodies.ts'
import type { Registries } from '../../land/records/contracts.ts'
import type { State } from '../../state/state.ts'
import type { LandMoment } from './land-moment.ts'

/** Everything that the land's routes use. */
export interface LandContext {
  readonly db: Db
  readonly clock: Clock
  readonly world: World
  /** The contracts whose tokens are the land. */
  readonly registries: Registries
  /** Large bodies that all clients share. */
  readonly bodies: CompressedBodies
  /** `cache-control` of map images and tile data. */
  readonly mapCacheControl: string
  /** @throws {AppError} `world_not_loaded` */
  state(): State
  /** @throws {AppError} `world_not_loaded` */
  moment(): LandMoment
}
