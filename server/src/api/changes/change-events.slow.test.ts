import { parseWorld } from '@landpass/client/grid'
import { writeDemoSnapshot } from '@landpass/simulators/demo/write-snapshot'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { emptyDir, freshEngine } from '../../../test/support/database/engines.ts'
import { REFERENCE_TIME_MS, testClock } from '../../../test/support/http/land-server.ts'
import { applyLandChanges, type LandChange } from '../../../test/support/land/land-changes.ts'
import { addressOf, publicationRow } from '../../../test/support/land/land-rows.ts'
import { runs } from '../../../test/support/run/property-seed.ts'
import type { Db } from '../../db/engine.ts'
import { type ChangedAssets, readChangedAssets } from '../../land/changes/change-journal.ts'
import { readLandHead } from '../../land/changes/land-head.ts'
import { importSnapshot } from '../../land/snapshot/import.ts'
import { buildState } from '../../state/builders/build-state.ts'
import { type StateAt, stateAt, versionOf, versionText } from '../../state/differences/state-version.ts'
import { State } from '../../state/state.ts'
import { ChangeEvents, MAX_NAMES } from './change-events.ts'
import { eventText } from './event-text.ts'

/** 1,089 parcels: more than an event may name. */
const RADIUS = 16
const WORLD = parseWorld(`-${RADIUS},-${RADIUS},${RADIUS},${RADIUS}`)!
const SPAN_MS = 10_000

const open = freshEngine('postgres')
let db: Db
let nowMs = REFERENCE_TIME_MS

beforeAll(async () => {
  db = (await open()).db
  const folder = emptyDir()
  await writeDemoSnapshot(1, folder, undefined, { radius: RADIUS })
  const report = await importSnapshot(db, folder, { world: WORLD, clock: testClock(), dryRun: false })
  expect(report.errors).toEqual([])
})

async function stateNow(): Promise<StateAt> {
  const head = await readLandHead(db)
  return stateAt(
    new State(await buildState(db, WORLD, { ...head, worldId: head.worldId!, lineage: 'a' })),
    nowMs,
  )
}

interface ReadEvent {
  readonly kind: string | undefined
  readonly parcels?: readonly string[]
  readonly estates?: readonly string[]
}

function read(event: Buffer): ReadEvent {
  const [, kind, data] = /^id: \S+\nevent: (\w+)\ndata: (.*)\n\n$/.exec(event.toString()) ?? []
  return { kind, ...JSON.parse(data!) }
}

describe('an event', () => {
  test('is three lines whose id is the state', async () => {
    const at = await stateNow()
    const state = versionText(versionOf(at))
    const { revision } = at.state
    const changed_at = new Date(at.state.freshness(at.openOffers.lastExpiryMs).changedAtMs).toISOString()

    expect(eventText('hello', at)).toBe(
      `id: ${state}\nevent: hello\ndata: {"revision":${revision},"state":"${state}","changed_at":"${changed_at}"}\n\n`,
    )
    expect(eventText('change', at, { more: { parcels: ['1,2'], estates: ['5'] } })).toBe(
      `id: ${state}\nevent: change\ndata: {"revision":${revision},"state":"${state}","changed_at":"${changed_at}",` +
        '"parcels":["1,2"],"estates":["5"]}\n\n',
    )
  })

  test('names the block that the land is at, where it follows a chain', async () => {
    const at = await stateNow()
    const block = { number: 21_000_000, hash: `0x${'a'.repeat(64)}` }
    const followed = { ...at, state: new State({ ...at.state.parts, block }) }

    for (const kind of ['hello', 'reset'] as const)
      expect(eventText(kind, followed)).toContain(`Z","block":{"number":21000000,"hash":"${block.hash}"}}\n`)
    expect(eventText('change', followed, { more: { parcels: [], estates: [] } })).toContain(
      `"hash":"${block.hash}"},"parcels":[],"estates":[]}`,
    )
  })

  test('is a reset if the differences are not known, or too many to name', async () => {
    const at = await stateNow()
    const state = versionOf(at)
    const before = { ...state, revision: state.revision - 1 }
    const kindOf = async (since: typeof state, assets: ChangedAssets | undefined) =>
      read(await new ChangeEvents(async () => assets).between(since, at)).kind
    const { x, y } = at.state.parts.parcels
    const parcels = Array.from(x, (east, row) => ({ x: east, y: y[row]! }))
    const outside = { x: RADIUS + 1, y: 0 }
    const estates = ['1', '1', 'no such estate']
    const named = (count: number) => ({
      parcels: [outside, ...parcels.slice(0, count)],
      estates,
      publications: [],
    })
    const some = named(MAX_NAMES - 2)

    expect(await kindOf(before, some)).toBe('change')
    expect(await kindOf(before, named(MAX_NAMES - 1))).toBe('reset')
    expect(await kindOf(before, undefined)).toBe('reset')
    expect(await kindOf({ ...state, revision: state.revision + 1 }, some)).toBe('reset')
    expect(await kindOf({ ...before, origin: 'b' }, some)).toBe('reset')
  })

  test('is made once for all clients, and again after a failure', async () => {
    const at = await stateNow()
    const since = { ...versionOf(at), revision: 0 }
    let reads = 0
    const events = new ChangeEvents(async () => {
      reads++
      if (reads === 1) throw new Error('the database is not reachable')
      return undefined
    })

    await expect(events.between(since, at)).rejects.toThrow('the database is not reachable')
    const [one, other] = await Promise.all([events.between(since, at), events.between(since, at)])

    expect(one).toBe(other)
    expect([reads, events.made]).toEqual([2, 1])
  })

  test('of a state that this process has had stays cached, whatever other states clients invent', async () => {
    const at = await stateNow()
    const since = { ...versionOf(at), revision: at.state.revision - 1 }
    const events = new ChangeEvents(async () => undefined)
    const kept = await events.between(since, at)

    for (let invented = 1; invented <= 200; invented++)
      await events.between({ ...since, lastExpiryMs: since.lastExpiryMs + invented }, at)

    const { made } = events
    expect(await events.between(since, at)).toBe(kept)
    expect(events.made).toBe(made)
  })
})

interface Choice {
  readonly what: (typeof WHATS)[number]
  readonly x: number
  readonly y: number
  readonly pick: number
  readonly ms: number
}

const WHATS = [
  'sell',
  'move',
  'rename-estate',
  'rent',
  'rent-estate',
  'offer',
  'offer-estate',
  'close',
  'remove-offer',
  'remove-estate',
] as const

const choice: fc.Arbitrary<Choice> = fc.record({
  what: fc.constantFrom(...WHATS),
  x: fc.integer({ min: -RADIUS, max: RADIUS }),
  y: fc.integer({ min: -RADIUS, max: RADIUS }),
  pick: fc.nat({ max: 1_000 }),
  ms: fc.integer({ min: 1, max: SPAN_MS }),
})

/** Changes, or a wait. */
const step: fc.Arbitrary<readonly Choice[] | number> = fc.oneof(
  fc.array(choice, { minLength: 1, maxLength: 4 }),
  fc.integer({ min: 1, max: SPAN_MS }),
)

/** Last steps of every story: two offers open, two assets are rented, and then all offers and rents expire. */
const SHORT_OFFER = { x: 0, y: 0, pick: 0, ms: 1 }
const EXPIRY_STEPS = [
  [
    { what: 'offer', ...SHORT_OFFER },
    { what: 'offer-estate', ...SHORT_OFFER },
    { what: 'rent', ...SHORT_OFFER, x: 1 },
    { what: 'rent-estate', ...SHORT_OFFER, pick: 1 },
  ],
  SPAN_MS,
] as const

test('after any changes and at any time, an event names every parcel and estate whose answer differs', async () => {
  const seen = { parcels: 0, estates: 0, expired: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 8 }), async (steps) => {
      const events = new ChangeEvents((worldId, range) => readChangedAssets(db, worldId, range))
      const seenAnswers = [await readAnswers()]
      for (const one of [...steps, ...EXPIRY_STEPS]) {
        if (typeof one === 'number') nowMs += one
        else for (const chosen of one) await applyLandChanges(db, [await changeFor(chosen)], nowMs)
        seenAnswers.push(await readAnswers())
        // The second client has received no event since the beginning.
        for (const since of [seenAnswers.at(-2)!, seenAnswers[0]!])
          await expectNamed(events, since, seenAnswers.at(-1)!)
      }
    }),
    { numRuns: runs(3), endOnFailure: true },
  )
  expect(Math.min(seen.parcels, seen.estates, seen.expired), JSON.stringify(seen)).toBeGreaterThan(5)

  async function expectNamed(events: ChangeEvents, before: Answers, now: Answers): Promise<void> {
    const event = read(await events.between(versionOf(before.at), now.at))
    expect(event.kind).toBe('change')
    const isSameRevision = before.at.state.revision === now.at.state.revision
    for (const type of ['parcels', 'estates'] as const) {
      for (const [name, answer] of now[type]) {
        if (answer === before[type].get(name)) continue
        expect(event[type], `${type} that changed`).toContain(name)
        seen[isSameRevision ? 'expired' : type]++
      }
      for (const name of before[type].keys())
        if (!now[type].has(name)) expect(event[type], `${type} that were removed`).toContain(name)
      expect(event[type]).toEqual([...new Set(event[type])])
    }
  }
})

/** Every parcel and estate as `/parcels` and `/estates` answer it. */
interface Answers {
  readonly at: StateAt
  readonly parcels: ReadonlyMap<string, string>
  readonly estates: ReadonlyMap<string, string>
}

async function readAnswers(): Promise<Answers> {
  const at = await stateNow()
  const { state, openOffers } = at
  const { parcels, estates } = state.parts
  // Any time at which these are the open offers.
  const atMs = Math.max(openOffers.lastExpiryMs, state.changedAtMs)
  const text = (pieces: Iterable<Uint8Array>) => Buffer.concat([...pieces]).toString()
  return {
    at,
    parcels: new Map(
      Array.from(parcels.x, (x, row) => [`${x},${parcels.y[row]}`, text(state.parcelPieces(row, atMs))]),
    ),
    estates: new Map(estates.ids.map((id, row) => [id, text(state.estatePieces(row, atMs))])),
  }
}

let names = 0

async function changeFor({ what, x, y, pick, ms }: Choice): Promise<LandChange> {
  const estates = await db.selectFrom('estate').select('id').orderBy('id').execute()
  const estate = estates[pick % estates.length]!.id
  const name = `change ${names++}`
  const offer = { block_time_created_at_ms: nowMs, expires_at_ms: nowMs + ms }
  const rent = { tenant: addressOf(name), rented_until_ms: nowMs + ms }
  switch (what) {
    case 'sell':
      return { kind: 'change-parcel', x, y, to: { owner: addressOf(name) } }
    case 'move':
      return { kind: 'change-parcel', x, y, to: { estate_id: estate, estate_position: pick } }
    case 'rent':
      return { kind: 'change-parcel', x, y, to: rent }
    case 'rent-estate':
      return { kind: 'change-estate', id: estate, to: rent }
    case 'offer':
      return {
        kind: 'open-publication',
        publication: publicationRow(name, { ...offer, asset_id: `${x},${y}` }),
      }
    case 'offer-estate':
      return {
        kind: 'open-publication',
        publication: publicationRow(name, { ...offer, asset_id: estate, asset_type: 'estate' }),
      }
    case 'remove-estate':
      return { kind: 'remove-estate', id: estate }
    case 'remove-offer':
    case 'close': {
      const offers = await db
        .selectFrom('publication')
        .select('key')
        .orderBy('key', 'desc')
        .limit(9)
        .execute()
      const { key } = offers[pick % offers.length]!
      if (what === 'remove-offer') return { kind: 'remove-publication', key }
      return { kind: 'close-publication', key, to: { status: 'cancelled', buyer: null, atMs: nowMs } }
    }
    default:
      return { kind: 'change-estate', id: estate, to: { name } }
  }
}
