import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { freshEngine } from '../../../test/support/database/engines.ts'
import { EventReader } from '../../../test/support/http/event-reader.ts'
import { testClock } from '../../../test/support/http/land-server.ts'
import { TINY_WORLD, tinySnapshot } from '../../../test/support/land/tiny-world.ts'
import { eventually } from '../../../test/support/processes/landpass.ts'
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

const open = freshEngine('postgres')
const clock = testClock()
let parts: StateParts
let state: State
/** Reads the journal; each test sets its own function. */
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
  setRevision(1)
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

/** Replaces the state by one with another revision. */
function setRevision(revision: number): void {
  state = new State({ ...parts, revision })
}

const stateNow = (): StateVersion => versionOf(stateAt(state, clock.nowMs()))

/** Each revision changes one parcel, whose x is that of the revision. */
function changeOf(revision: number): ChangedAssets {
  return { parcels: [{ x: revision - 3, y: 0 }], estates: [], publications: [] }
}

async function revisionsOf(reader: EventReader, count: number): Promise<string[]> {
  const received: string[] = []
  for (let i = 0; i < count; i++) {
    const { kind, data } = await reader.next()
    received.push(`${kind} ${(data as { revision: number }).revision}`)
  }
  return received
}

test('a client that connects while an event is announced misses no event and gets none twice', async () => {
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
  setRevision(2)
  changeStream.announceNewState()
  await eventually(
    async () => asked.length,
    (count) => count === 1,
    SECOND_MS,
  )

  // Three more clients connect: without a state, with the previous state, and with one that is not announced yet.
  const late = [await EventReader.open(url)]
  for (const state of [known1, stateNow()]) {
    known = state
    late.push(await EventReader.open(url))
  }
  setRevision(3)
  changeStream.announceNewState()
  changeStream.announceNewState()
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
  setRevision(4)
  changeStream.announceNewState()
  for (const reader of [first, ...late]) expect(await revisionsOf(reader, 1)).toEqual(['change 4'])
  expect(warnings).toEqual([])
})

test('an event that is announced while a late client catches up reaches that client once, too', async () => {
  const first = await EventReader.open(url)
  expect(await revisionsOf(first, 1)).toEqual(['hello 1'])
  known = stateNow()
  for (const revision of [2, 3]) {
    setRevision(revision)
    changeStream.announceNewState()
    expect(await revisionsOf(first, 1)).toEqual([`change ${revision}`])
  }
  let answer: () => void = () => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  readChanges = async (_worldId, { afterRevision, toRevision }) => {
    // Only the changes that the late client has missed are slow to read.
    if (afterRevision === 1) await answered
    return changeOf(toRevision)
  }

  const late = await EventReader.open(url)
  setRevision(4)
  changeStream.announceNewState()
  expect(await revisionsOf(first, 1)).toEqual(['change 4'])
  answer()

  expect(await revisionsOf(late, 2)).toEqual(['change 3', 'change 4'])
  setRevision(5)
  changeStream.announceNewState()
  for (const reader of [first, late]) expect(await revisionsOf(reader, 1)).toEqual(['change 5'])
})

test('a change that cannot be read is announced by the next attempt', async () => {
  const reader = await EventReader.open(url)
  expect(await revisionsOf(reader, 1)).toEqual(['hello 1'])
  let reads = 0
  readChanges = async (_worldId, { toRevision }) => {
    if (++reads === 1) throw new Error('the database is not reachable')
    return changeOf(toRevision)
  }

  setRevision(2)
  changeStream.announceNewState()

  expect(await revisionsOf(reader, 1)).toEqual(['change 2'])
  expect([reads, warnings]).toEqual([2, ['the changes could not be read; they are announced later']])
})

test('the stream of a client whose missed changes cannot be read is closed, so that it reconnects', async () => {
  known = stateNow()
  setRevision(2)
  readChanges = async () => {
    throw new Error('the database is not reachable')
  }

  const reader = await EventReader.open(url)
  await reader.ended

  expect(reader.text).toMatch(/^retry: \d+\n\n$/)
  expect(warnings).toEqual(['the changes could not be read; a stream was closed, and its client reconnects'])
})

test('this process catches up with a client that has a newer state from another process', async () => {
  const unknownState = { ...stateNow(), revision: 9 }
  setRevision(2)
  known = stateNow()
  setRevision(1)
  catchUp = async () => {
    setRevision(2)
    changeStream.announceNewState()
  }

  const reader = await EventReader.open(url)
  known = unknownState
  const lost = await EventReader.open(url)

  expect(await revisionsOf(lost, 1)).toEqual(['reset 2'])
  setRevision(3)
  changeStream.announceNewState()
  for (const one of [reader, lost]) expect(await revisionsOf(one, 1)).toEqual(['change 3'])
})
