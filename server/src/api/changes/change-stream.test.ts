import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { freshEngine } from '../../../test/support/engines.ts'
import { EventReader } from '../../../test/support/event-reader.ts'
import { testClock } from '../../../test/support/land-server.ts'
import { eventually } from '../../../test/support/landpass.ts'
import { TINY_WORLD, tinySnapshot } from '../../../test/support/tiny-world.ts'
import { SECOND_MS } from '../../clock.ts'
import { EventStreams } from '../../http/event-streams.ts'
import { Metrics } from '../../http/metrics.ts'
import { createServer } from '../../http/server.ts'
import type { ChangedAssets } from '../../land/changes/change-journal.ts'
import { readLandHead } from '../../land/changes/land-head.ts'
import { importSnapshot } from '../../land/snapshot/import.ts'
import { buildState } from '../../state/builders/build-state.ts'
import type { ReadChanges } from '../../state/differences/changed-assets.ts'
import { type StateVersion, stateAt, versionOf } from '../../state/differences/state-version.ts'
import type { StateParts } from '../../state/parts/parts.ts'
import { State } from '../../state/state.ts'
import { ChangeStream, type KnownState } from './change-stream.ts'

const open = freshEngine('embedded')
const clock = testClock()
let parts: StateParts
let state: State
/** How the journal is read; each test has its own way. */
let readChanges: ReadChanges
let catchUp: () => Promise<void>
let known: KnownState
let changeStream: ChangeStream
let url: string
let warnings: string[]
let close: () => Promise<void>

beforeAll(async () => {
  const { db } = await open()
  await importSnapshot(db, tinySnapshot(), { world: TINY_WORLD, clock, dryRun: false })
  const head = await readLandHead(db)
  parts = await buildState(db, TINY_WORLD, { ...head, worldId: head.worldId! })
})

beforeEach(async () => {
  become(1)
  known = 'nothing'
  warnings = []
  catchUp = async () => {}
  readChanges = async (_worldId, { toRevision }) => changeOf(toRevision)
  const app = await createServer({
    logLevel: 'silent',
    requestTimeoutMs: 5_000,
    metrics: new Metrics(),
    trustedProxies: [],
  })
  changeStream = new ChangeStream({
    land: { state: () => state, clock },
    streams: new EventStreams(app, { max: 100, perClient: 0 }),
    readChanges: (...range) => readChanges(...range),
    catchUp: () => catchUp(),
    log: { warn: (_facts: unknown, sentence?: string) => void warnings.push(sentence!) },
  })
  app.get('/changes', (request, reply) => {
    changeStream.open(request, reply, known)
    return reply
  })
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  url = `${origin}/changes`
  close = () => app.close()
})
afterEach(() => close())

/** Another revision takes the place of the state. */
function become(revision: number): void {
  state = new State({ ...parts, revision })
}

const stateNow = (): StateVersion => versionOf(stateAt(state, clock.nowMs()))

/** Every revision changes a parcel that has its number. */
function changeOf(revision: number): ChangedAssets {
  return { parcels: [{ x: revision - 3, y: 0 }], estates: [], publications: [] }
}

async function revisionsOf(reader: EventReader, count: number): Promise<string[]> {
  const heard: string[] = []
  for (let i = 0; i < count; i++) {
    const { kind, data } = await reader.next()
    heard.push(`${kind} ${(data as { revision: number }).revision}`)
  }
  return heard
}

test('whoever comes while others are being told misses nothing and hears nothing twice', async () => {
  const first = await EventReader.open(url)
  expect(await revisionsOf(first, 1)).toEqual(['hello 1'])
  const asked: number[] = []
  let answer: () => void = () => {}
  readChanges = async (_worldId, { afterRevision, toRevision }) => {
    asked.push(afterRevision)
    await new Promise<void>((resolve) => {
      answer = resolve
    })
    return changeOf(toRevision)
  }
  const known1 = stateNow()
  become(2)
  changeStream.look()
  await eventually(
    async () => asked.length,
    (count) => count === 1,
    SECOND_MS,
  )

  // Three more come: with nothing, with the state before, and with one that nobody was told of yet.
  const late = [await EventReader.open(url)]
  for (const state of [known1, stateNow()]) {
    known = state
    late.push(await EventReader.open(url))
  }
  become(3)
  changeStream.look()
  changeStream.look()
  answer()
  expect(await revisionsOf(first, 1)).toEqual(['change 2'])
  await eventually(
    async () => asked.length,
    (count) => count === 2,
    SECOND_MS,
  )
  readChanges = async (_worldId, { toRevision }) => changeOf(toRevision)
  answer()

  expect(await revisionsOf(first, 1)).toEqual(['change 3'])
  expect(await revisionsOf(late[0]!, 1)).toEqual(['hello 3'])
  expect(await revisionsOf(late[1]!, 1)).toEqual(['change 3'])
  expect(await revisionsOf(late[2]!, 1)).toEqual(['change 3'])
  become(4)
  changeStream.look()
  for (const reader of [first, ...late]) expect(await revisionsOf(reader, 1)).toEqual(['change 4'])
  expect(warnings).toEqual([])
})

test('what others are told while somebody is brought up to date is told to that one too, once', async () => {
  const first = await EventReader.open(url)
  expect(await revisionsOf(first, 1)).toEqual(['hello 1'])
  known = stateNow()
  for (const revision of [2, 3]) {
    become(revision)
    changeStream.look()
    expect(await revisionsOf(first, 1)).toEqual([`change ${revision}`])
  }
  let answer: () => void = () => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  readChanges = async (_worldId, { afterRevision, toRevision }) => {
    // Only what the late reader has missed takes long.
    if (afterRevision === 1) await answered
    return changeOf(toRevision)
  }

  const late = await EventReader.open(url)
  become(4)
  changeStream.look()
  expect(await revisionsOf(first, 1)).toEqual(['change 4'])
  answer()

  expect(await revisionsOf(late, 2)).toEqual(['change 3', 'change 4'])
  become(5)
  changeStream.look()
  for (const reader of [first, late]) expect(await revisionsOf(reader, 1)).toEqual(['change 5'])
})

test('a change that cannot be read is told when it can', async () => {
  const reader = await EventReader.open(url)
  expect(await revisionsOf(reader, 1)).toEqual(['hello 1'])
  let reads = 0
  readChanges = async (_worldId, { toRevision }) => {
    if (++reads === 1) throw new Error('the database is away')
    return changeOf(toRevision)
  }

  become(2)
  changeStream.look()

  expect(await revisionsOf(reader, 1)).toEqual(['change 2'])
  expect([reads, warnings]).toEqual([2, ['what changed could not be read; readers hear of it later']])
})

test('a reader who cannot be told what it missed is sent away, and comes again', async () => {
  known = stateNow()
  become(2)
  readChanges = async () => {
    throw new Error('the database is away')
  }

  const reader = await EventReader.open(url)
  await reader.ended

  expect(reader.text).toMatch(/^retry: \d+\n\n$/)
  expect(warnings).toEqual(['what changed could not be read; a reader was sent away to come again'])
})

test('a reader who comes from a process that is ahead of this one is no stranger', async () => {
  const stranger = { ...stateNow(), revision: 9 }
  become(2)
  known = stateNow()
  become(1)
  catchUp = async () => {
    become(2)
    changeStream.look()
  }

  const reader = await EventReader.open(url)
  known = stranger
  const lost = await EventReader.open(url)

  expect(await revisionsOf(lost, 1)).toEqual(['reset 2'])
  become(3)
  changeStream.look()
  for (const one of [reader, lost]) expect(await revisionsOf(one, 1)).toEqual(['change 3'])
})
