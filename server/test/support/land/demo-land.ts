import { parseWorld } from '@landpass/client/grid'
import { demoWorld } from '@landpass/simulators/demo/demo-world'
import { expect } from 'vitest'
import type { Environment, FixedLimits } from '../../../src/config/config.ts'
import type { Db, Engine } from '../../../src/db/engine.ts'
import { importSnapshot } from '../../../src/land/snapshot/import.ts'
import { type LandServer, startLandServer, type TestClock, testClock } from '../http/land-server.ts'
import { exactly, inDigits } from '../run/exact-values.ts'
import { expectSame } from '../run/expect-same.ts'
import { demoSnapshot } from './demo-snapshots.ts'
import { applyLandChanges, type LandChange } from './land-changes.ts'
import { ReferenceLand } from './reference-land.ts'

export interface DemoLandOptions {
  /** The demo world reaches from -radius to radius. */
  readonly radius: number
  readonly seed?: number
  /** More rectangles for the setting WORLD, without parcels in them. */
  readonly emptyAreas?: string
  /** More settings. */
  readonly env?: Environment
  readonly limits?: Partial<FixedLimits>
  /** What else the database has when the server starts. */
  readonly store?: (db: Db, clock: TestClock) => Promise<void>
}

/** A server over a small demo world, and what it has to answer. */
export interface DemoLand {
  readonly engine: Engine
  readonly server: LandServer
  readonly reference: ReferenceLand
  readonly clock: TestClock
  nowMs(): number
  /** Commits changes, all in one revision, and waits until the server shows them. */
  change(...changes: LandChange[]): Promise<void>
  /** Fails unless the answer is a 200 with exactly these data, digit for digit. @returns its text */
  expectData(path: string, data: unknown): Promise<string>
  /** Fails unless the answer is this status and code; gives the sentence and the details. */
  refusal(
    path: string,
    status: number,
    code: string,
  ): Promise<{ error: string; data: Record<string, unknown> }>
}

export async function startDemoLand(engine: Engine, options: DemoLandOptions): Promise<DemoLand> {
  const { radius, seed = 1, emptyAreas, env, limits, store } = options
  const clock = testClock()
  const area = `-${radius},-${radius},${radius},${radius}`
  const folder = await demoSnapshot(seed, radius)
  const report = await importSnapshot(engine.db, folder, { world: parseWorld(area)!, clock, dryRun: false })
  expect(report.errors).toEqual([])
  await store?.(engine.db, clock)
  const settings = { WORLD: emptyAreas ? `${area};${emptyAreas}` : area, ...env }
  const server = await startLandServer(engine, clock, settings, limits && { limits })
  const reference = new ReferenceLand(demoWorld(seed, { radius }))
  return {
    engine,
    server,
    reference,
    clock,
    nowMs: () => clock.nowMs(),
    change: async (...changes) => {
      await applyLandChanges(engine.db, changes, clock.nowMs())
      for (const change of changes) reference.apply(change)
      await server.app.keeper.refresh()
    },
    expectData: async (path, data) => {
      const { status, text } = await server.get(path)
      expect(status, `${path} answered ${text.slice(0, 300)}`).toBe(200)
      expectSame(exactly(text), inDigits({ ok: true, data }), path)
      return text
    },
    refusal: async (path, status, code) => {
      const answer = await server.get(path)
      expect([answer.status, answer.body?.code], `${path} answered ${answer.text.slice(0, 300)}`).toEqual([
        status,
        code,
      ])
      const { ok, error, data, ...more } = answer.body as {
        ok: boolean
        error: string
        data: never
        code: string
      }
      expect([ok, more], path).toEqual([false, { code }])
      expect(error, path).toMatch(/^\S.*\.$/s)
      return { error, data }
    },
  }
}
