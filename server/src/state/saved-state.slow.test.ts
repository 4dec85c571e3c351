import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { emptyDir, freshEngine } from '../../test/support/database/engines.ts'
import { answersOf } from '../../test/support/land/state-answers.ts'
import { TINY_WORLD, tinySnapshot } from '../../test/support/land/tiny-world.ts'
import { HOUR_MS } from '../clock.ts'
import { importSnapshot } from '../land/snapshot/import.ts'
import { buildState } from './builders/build-state.ts'
import { flatten } from './parts/flat-parts.ts'
import { ANSWER_FORM, type StateParts } from './parts/parts.ts'
import { loadState, SAVED_FORM, saveState } from './saved-state.ts'
import { State } from './state.ts'

const MARCH_MS = Date.parse('2019-03-10T00:00:00.000Z')

const open = freshEngine('postgres')
let parts: StateParts
beforeAll(async () => {
  const { db } = await open()
  const options = { world: TINY_WORLD, clock: { nowMs: () => 1_000 }, dryRun: false }
  const { worldId } = await importSnapshot(db, tinySnapshot(), options)
  const state = {
    lineage: 'abc',
    worldId: worldId!,
    revision: 7,
    changedAtMs: 1_000,
    block: { number: 8, hash: '0x08' },
  }
  parts = { ...(await buildState(db, TINY_WORLD, state)), worldId: 1 }
})

test('a loaded state gives the same answers as the saved one', async () => {
  const folder = join(emptyDir(), 'made', 'when', 'needed')

  await saveState(folder, parts)
  const loaded = await loadState(folder)

  expect(answersOf(new State(loaded!), [0, MARCH_MS])).toEqual(answersOf(new State(parts), [0, MARCH_MS]))
  expect(loaded).toEqual(parts)
  expect(readdirSync(folder)).toEqual(['state'])
})

test('a later copy replaces the earlier one', async () => {
  const folder = emptyDir()
  await saveState(folder, parts)
  await saveState(folder, { ...parts, revision: 8 })

  expect((await loadState(folder))?.revision).toBe(8)
})

test('a missing, damaged or foreign file is not loaded', async () => {
  const folder = emptyDir()
  expect(await loadState(folder)).toBeUndefined()
  expect(await loadState(join(folder, 'nowhere'))).toBeUndefined()

  await saveState(folder, parts)
  const file = join(folder, 'state')
  const good = readFileSync(file)
  const damage = fc.oneof(
    fc.tuple(
      fc.constant('flip' as const),
      fc.nat({ max: good.length - 1 }),
      fc.integer({ min: 1, max: 255 }),
    ),
    fc.tuple(fc.constant('cut' as const), fc.nat({ max: good.length - 1 }), fc.constant(0)),
    fc.tuple(fc.constant('more' as const), fc.integer({ min: 1, max: 64 }), fc.nat({ max: 255 })),
  )
  await fc.assert(
    fc.asyncProperty(damage, async ([kind, at, byte]) => {
      if (kind === 'flip') {
        const bad = Buffer.from(good)
        bad[at]! ^= byte
        writeFileSync(file, bad)
      } else if (kind === 'cut') writeFileSync(file, good.subarray(0, at))
      else writeFileSync(file, Buffer.concat([good, Buffer.alloc(at, byte)]))

      expect((await loadState(folder)) === undefined, 'it was loaded').toBe(true)
    }),
    { numRuns: 300, examples: [0, 8, 10, 12, 15, 16, good.length - 1].map((at) => [['flip', at, 255]]) },
  )
  writeFileSync(file, good)
  expect(await loadState(folder)).toBeDefined()
})

test('saving removes unfinished files of killed processes, and keeps newer ones', async () => {
  const folder = emptyDir()
  const old = ['state.1.unfinished', 'state.3.unfinished', 'state.x', 'database']
  for (const name of [...old, 'state.2.unfinished']) writeFileSync(join(folder, name), '')
  const anHourAgo = new Date(Date.now() - HOUR_MS)
  for (const name of old) utimesSync(join(folder, name), anHourAgo, anHourAgo)

  await saveState(folder, parts)

  expect(readdirSync(folder).sort()).toEqual(['database', 'state', 'state.2.unfinished', 'state.x'])
})

test('a copy that cannot be written leaves no unfinished file', async () => {
  const folder = emptyDir()
  mkdirSync(join(folder, 'state', 'in the way'), { recursive: true })

  await expect(saveState(folder, parts)).rejects.toThrow()

  expect(readdirSync(folder)).toEqual(['state'])
  expect(await loadState(folder)).toBeUndefined()
})

test('the content of the file has not changed: otherwise raise SAVED_FORM or WRITTEN_FORM', () => {
  const hash = createHash('sha256')
  const { json, columns } = flatten(parts)
  hash.update(json)
  for (const column of columns) hash.update(column)

  // With another hash and the same numbers, a new server would load an old copy and answer in the old form
  expect([SAVED_FORM, ANSWER_FORM, hash.digest('hex').slice(0, 16)]).toEqual([2, 18778, '9c03b8c48b693e0b'])
})
