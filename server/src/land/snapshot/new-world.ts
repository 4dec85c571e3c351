import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import type { Tx } from '../../db/transaction.ts'
import { Loader } from './loader.ts'
import {
  attachWorld,
  beginWorld,
  dropRetiredWorlds,
  dropWorld,
  Lease,
  RETIRED_GRACE_MS,
  showWorld,
} from './worlds.ts'

export interface NewWorldOptions {
  readonly clock: Clock
  readonly signal?: AbortSignal | undefined
  /** How long to wait for another import that seems to be running but may have been killed. 0 by default. */
  readonly patienceMs?: number | undefined
  /** See {@link Loader}; 1 where it is left out. */
  readonly insertsAtOnce?: number | undefined
  /** Refuse to replace a world. */
  readonly onlyIfEmpty?: boolean | undefined
  /** Is done when all rows are there and no reader has them yet: it may take long, and what it throws keeps the old world. */
  readonly beforeShown?: ((worldId: number) => Promise<void>) | undefined
  /**
   * Is done in the transaction that shows the world: what it throws keeps the old one. `shownBefore` is that one, null
   * for none.
   */
  readonly whenShown?: ((tx: Tx, worldId: number, shownBefore: number | null) => Promise<void>) | undefined
}

export interface NewWorldSteps {
  /** Adds all rows. @returns false to give the new world up */
  readonly fill: (loader: Loader) => Promise<boolean>
  readonly onStep?: ((step: 'attach' | 'show') => void) | undefined
  /**
   * Is done immediately before the transaction that shows the world, and again after a {@link ShowAgainError}. It may take long.
   */
  readonly beforeShow?: (() => Promise<void>) | undefined
}

/** Thrown by `whenShown`: what it needs has changed since `beforeShow`. The world is not shown yet, and both are repeated. */
export class ShowAgainError extends Error {
  constructor() {
    super('the world is to be shown again')
    this.name = 'ShowAgainError'
  }
}

export interface ShownWorld {
  readonly worldId: number
  readonly revision: number
}

/**
 * Fills a world beside the one that is shown, and shows it in one step.
 *
 * @returns undefined where `fill` gave it up
 * @throws {CommandError} while another import runs. Then, and after any failure, nothing has changed
 */
export async function makeWorld(
  db: Db,
  options: NewWorldOptions,
  steps: NewWorldSteps,
): Promise<ShownWorld | undefined> {
  const { clock } = options
  await dropRetiredWorlds(db, RETIRED_GRACE_MS, clock.nowMs())
  const worldId = await beginWorld(db, clock, options)
  const revision = await fillAndShow(db, worldId, options, steps).catch(async (error: unknown) => {
    await dropWorld(db, worldId).catch(() => undefined) // the first error is the one to report
    throw error
  })
  if (revision !== undefined) return { worldId, revision }
  await dropWorld(db, worldId)
  return undefined
}

async function fillAndShow(
  db: Db,
  worldId: number,
  { clock, signal, insertsAtOnce, onlyIfEmpty, beforeShown, whenShown }: NewWorldOptions,
  { fill, onStep, beforeShow }: NewWorldSteps,
): Promise<number | undefined> {
  const lease = new Lease(db, worldId, clock)
  const loader = new Loader(db, worldId, lease, insertsAtOnce)
  try {
    if (!(await fill(loader))) return undefined
    await loader.finish()
  } finally {
    await loader.settle() // tables cannot be dropped under a running INSERT
  }
  signal?.throwIfAborted()
  onStep?.('attach')
  await attachWorld(db, worldId, lease)
  if (beforeShown) await lease.during(() => beforeShown(worldId))
  signal?.throwIfAborted()
  onStep?.('show')
  const alsoIn = whenShown && ((tx: Tx, shownBefore: number | null) => whenShown(tx, worldId, shownBefore))
  for (;;) {
    if (beforeShow) await lease.during(beforeShow)
    try {
      return await showWorld(db, worldId, clock.nowMs(), { onlyIfEmpty, alsoIn })
    } catch (error) {
      if (!(error instanceof ShowAgainError)) throw error
    }
    signal?.throwIfAborted()
    await lease.renew()
  }
}
