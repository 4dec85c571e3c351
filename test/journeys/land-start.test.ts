import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SYSTEM_CLOCK } from '@landpass/server/clock'
import { readConfig } from '@landpass/server/config/config'
import type { Engine } from '@landpass/server/db/engine'
import { openEngine } from '@landpass/server/db/open-engine'
import { StateKeeper } from '@landpass/server/state/state-keeper'
import {
  emptyDir,
  freshDatabaseUrl,
  freshDataDir,
  TEST_SETTINGS,
} from '@landpass/server/test/support/database/engines'
import { readInBundledThread } from '@landpass/server/test/support/http/land-server'
import { demoSnapshot } from '@landpass/server/test/support/land/demo-snapshots'
import { applyLandChanges, type LandChange } from '@landpass/server/test/support/land/land-changes'
import { publicationRow } from '@landpass/server/test/support/land/land-rows'
import { answersOf } from '@landpass/server/test/support/land/state-answers'
import { importWorld } from '@landpass/server/test/support/land/worlds'
import type { Env } from '@landpass/server/test/support/processes/landpass'
import { expect, onTestFinished, test } from 'vitest'

const RADIUS = 12

test.each(['embedded', 'postgres'] as const)(
  'a server that starts again takes the copy, and what has changed since (%s)',
  async (kind) => {
    const here = await place(kind)
    const { copy, change, replaceWorld } = here
    await replaceWorld(1)

    const first = await start(here)
    expect(first.from).toEqual(['tables'])

    await change({ kind: 'change-parcel', x: 1, y: 1, to: { name: 'while it was away' } })
    const second = await start(here)
    expect(second.from).toEqual(['copy'])
    expect(second.text).toContain('while it was away')

    // One byte of the copy is another: everything is read again, and says the same
    const bytes = readFileSync(copy)
    bytes[bytes.length >> 1]! ^= 1
    writeFileSync(copy, bytes)
    const third = await start(here)
    expect(third).toEqual({ from: ['tables'], text: second.text })

    // So is it after an import, and after more changes than a copy can be brought up to
    await replaceWorld(2)
    const fourth = await start(here)
    expect(fourth.from).toEqual(['tables'])
    expect(fourth.text).not.toBe(third.text)
    if (kind === 'embedded') return // the journal is the same, and takes far longer to fill
    const offers = Array.from({ length: 3_000 }, (_, i) => publicationRow(`offer ${i}`, { asset_id: '2,2' }))
    await change(...offers.map((publication) => ({ kind: 'open-publication', publication }) as const))
    expect((await start(here)).from).toEqual(['tables'])
  },
)

test('a copy of another database, or of another history of the same one, is ignored', async () => {
  const here = await place('postgres')
  const { copy, change, engine } = here
  const other = await place('postgres')
  for (const one of [here, other]) await one.replaceWorld(1)
  await start(other)
  writeFileSync(copy, readFileSync(other.copy))
  expect((await start(here)).from).toEqual(['tables'])

  // A backup is taken, the world goes on, the copy is of then; the backup comes back, and the world goes on again
  await change({ kind: 'change-parcel', x: 1, y: 1, to: { name: 'what a backup does not have' } })
  rmSync(copy)
  expect((await start(here)).from).toEqual(['tables'])
  expect((await start(here)).from).toEqual(['copy'])
  await engine.db.deleteFrom('land_change').where('subject', '!=', 'anything').execute()
  await engine.db.updateTable('parcel').set({ name: 'as in the backup' }).where('x', '=', 1).execute()
  await engine.db
    .updateTable('land_state')
    .set((eb) => ({ revision: eb('revision', '-', 1) }))
    .execute()
  await change({ kind: 'change-parcel', x: 5, y: 5, to: { name: 'instead' } })
  await change({ kind: 'change-parcel', x: 5, y: 5, to: { name: 'and so on' } })

  const { from, text } = await start(here)
  expect(from).toEqual(['tables'])
  expect(text).toContain('as in the backup')
  expect(text).not.toContain('what a backup does not have')
})

interface Place {
  readonly env: Env
  /** The copy's file. */
  readonly copy: string
  readonly engine: Engine
  change(...changes: LandChange[]): Promise<void>
  replaceWorld(seed: number): Promise<void>
}

async function place(kind: 'embedded' | 'postgres'): Promise<Place> {
  const dataDir = kind === 'embedded' ? await freshDataDir() : emptyDir()
  const databaseUrl = kind === 'postgres' ? await freshDatabaseUrl() : undefined
  const env: Env = { DATA_DIR: dataDir, ...(databaseUrl && { DATABASE_URL: databaseUrl }) }
  const engine = await openEngine({ ...TEST_SETTINGS, dataDir, databaseUrl })
  onTestFinished(() => engine.close())
  const change = async (...changes: LandChange[]) => {
    await applyLandChanges(engine.db, changes, SYSTEM_CLOCK.nowMs())
  }
  const replaceWorld = async (seed: number) =>
    importWorld(engine.db, await demoSnapshot(seed, RADIUS), SYSTEM_CLOCK)
  return { env, copy: join(dataDir, 'state'), engine, change, replaceWorld }
}

/**
 * Where the state of a server that starts here comes from, and all that it answers; stopping waits for the copy.
 * Without the process and the opening of the database: operator.test.ts has both.
 */
async function start({ env, engine }: Place): Promise<{ from: unknown[]; text: string }> {
  const from: unknown[] = []
  const log = { debug() {}, info: (facts: object) => from.push((facts as { from: unknown }).from) }
  const settings = { ...readConfig(env), readLand: readInBundledThread }
  const keeper = new StateKeeper(engine, settings, { ...log, warn: expect.fail, error: expect.fail })
  await keeper.start()
  const text = JSON.stringify(answersOf(keeper.current(), []))
  await keeper.close()
  return { from, text }
}
