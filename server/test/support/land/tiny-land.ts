import { expect } from 'vitest'
import type { Clock } from '../../../src/clock.ts'
import type { Environment } from '../../../src/config/config.ts'
import type { Engine } from '../../../src/db/engine.ts'
import { importSnapshot } from '../../../src/land/snapshot/import.ts'
import { type LandServer, startLandServer } from '../http/land-server.ts'
import { applyLandChanges, type LandChange } from './land-changes.ts'
import { type Records, TINY_WORLD, tinySnapshot } from './tiny-world.ts'

/** A server over the tiny world, or over other records of its place. */
export interface TinyLand {
  readonly server: LandServer
  /** Commits changes, all in one revision, and waits until the server shows them. */
  change(...changes: LandChange[]): Promise<void>
}

interface TinyLandOptions {
  readonly records?: Records
  /** More settings. */
  readonly env?: Environment
}

/** Settings with which the organisers' page shows the form for events of POAP. The issuer is never asked. */
export const OFFERS_POAP: Environment = {
  ATTENDANCE_KEY: '5e'.repeat(32),
  ISSUER_API_KEY: 'key',
  ISSUER_CLIENT_ID: 'client',
  ISSUER_CLIENT_SECRET: 'secret',
}

export async function startTinyLand(
  engine: Engine,
  clock: Clock,
  { records, env }: TinyLandOptions = {},
): Promise<TinyLand> {
  const folder = tinySnapshot(records && { records })
  const report = await importSnapshot(engine.db, folder, { world: TINY_WORLD, clock, dryRun: false })
  expect(report.errors).toEqual([])
  const server = await startLandServer(engine, clock, { WORLD: '-2,-2,2,2', ...env })
  return {
    server,
    change: async (...changes) => {
      await applyLandChanges(engine.db, changes, clock.nowMs())
      await server.app.keeper.refresh()
    },
  }
}
