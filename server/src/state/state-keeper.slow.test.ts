import { parseWorld } from '@landpass/client/grid'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { emptyDir, freshEngine } from '../../test/support/database/engines.ts'
import { StatementCounter } from '../../test/support/database/statement-counter.ts'
import { REFERENCE_TIME_MS, readInBundledThread } from '../../test/support/http/land-server.ts'
import { demoSnapshot } from '../../test/support/land/demo-snapshots.ts'
import { applyLandChanges } from '../../test/support/land/land-changes.ts'
import { addressOf } from '../../test/support/land/land-rows.ts'
import { importWorld } from '../../test/support/land/worlds.ts'
import type { Engine } from '../db/engine.ts'
import { StateKeeper } from './state-keeper.ts'

const RADIUS = 8
const WORLD = parseWorld(`-${RADIUS},-${RADIUS},${RADIUS},${RADIUS}`)!
const open = freshEngine('postgres')

afterEach(() => vi.useRealTimers())

test('an announced change is read with one statement, and is known without the journal', async () => {
  vi.useFakeTimers({ toFake: ['setInterval'] }) // No poll comes between.
  const engine = await open()
  const clock = { nowMs: () => REFERENCE_TIME_MS }
  await importWorld(engine.db, await demoSnapshot(1, RADIUS), clock)
  const statements = new StatementCounter()
  const counted: Engine = {
    kind: engine.kind,
    db: engine.db.withPlugin(statements),
    listen: (...args: Parameters<Engine['listen']>) => engine.listen(...args),
    lend: () => engine.lend(),
  } as Engine
  const log = { debug() {}, info() {}, warn: expect.fail, error: expect.fail }
  const keeper = new StateKeeper(
    counted,
    { world: WORLD, dataDir: emptyDir(), readLand: readInBundledThread },
    log,
    clock,
  )
  await keeper.start()
  const { revision, worldId } = keeper.current()
  const replaced = new Promise<void>((resolve) => keeper.onReplaced(resolve))
  statements.count = 0

  await applyLandChanges(
    engine.db,
    [{ kind: 'change-parcel', x: 1, y: 2, to: { owner: addressOf('buyer') } }],
    REFERENCE_TIME_MS,
  )
  await replaced

  expect(statements.count).toBe(1)
  expect(keeper.revision).toBe(revision + 1)
  const range = { afterRevision: revision, toRevision: revision + 1 }
  expect(keeper.changesOf(worldId, range)).toEqual({
    parcels: [{ x: 1, y: 2 }],
    estates: [],
    publications: [],
  })
  for (const other of [
    { afterRevision: revision - 1, toRevision: revision + 1 },
    { afterRevision: revision, toRevision: revision },
  ])
    expect(keeper.changesOf(worldId, other)).toBeUndefined()
  expect(keeper.changesOf(worldId + 1, range)).toBeUndefined()

  // A whole world cannot be patched: that is found once, then the head is read, and the rest in a thread
  const imported = new Promise<void>((resolve) => keeper.onReplaced(resolve))
  statements.count = 0
  await importWorld(engine.db, await demoSnapshot(2, RADIUS), clock)
  await imported
  expect(statements.count).toBe(2)
  expect(keeper.current().worldId).not.toBe(worldId)
  expect(keeper.changesOf(worldId, range), 'of the state before').toBeUndefined()
  await keeper.close()
})

test('a change of which no notification comes is found by polling', async () => {
  const engine = await open()
  const clock = { nowMs: () => REFERENCE_TIME_MS }
  await importWorld(engine.db, await demoSnapshot(1, RADIUS), clock)
  const deaf = {
    kind: engine.kind,
    db: engine.db,
    listen: async () => {},
    lend: () => engine.lend(),
  } as unknown as Engine
  const log = { debug() {}, info() {}, warn: expect.fail, error: expect.fail }
  const keeper = new StateKeeper(
    deaf,
    { world: WORLD, dataDir: emptyDir(), readLand: readInBundledThread },
    log,
    clock,
  )
  onTestFinished(() => keeper.close())
  await keeper.start()
  const { revision } = keeper.current()
  const replaced = new Promise<void>((resolve) => keeper.onReplaced(resolve))

  await applyLandChanges(
    engine.db,
    [{ kind: 'change-parcel', x: 1, y: 2, to: { owner: addressOf('buyer') } }],
    REFERENCE_TIME_MS,
  )
  await replaced

  expect(keeper.revision).toBe(revision + 1)
})
