import { FeedGrid, type FeedTile, readFeed } from '@landpass/client/feed'
import { parseWorld } from '@landpass/client/grid'
import { demoWorld } from '@landpass/simulators/demo/demo-world'
import { writeDemoSnapshot } from '@landpass/simulators/demo/write-snapshot'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { emptyDir, freshEngine } from '../../../test/support/database/engines.ts'
import { REFERENCE_TIME_MS, testClock } from '../../../test/support/http/land-server.ts'
import { applyLandChanges, type LandChange } from '../../../test/support/land/land-changes.ts'
import { addressOf, estateRow, publicationRow } from '../../../test/support/land/land-rows.ts'
import { ReferenceLand } from '../../../test/support/land/reference-land.ts'
import { type ReferenceTile, referenceTiles } from '../../../test/support/land/reference-tiles.ts'
import { runs } from '../../../test/support/run/property-seed.ts'
import type { Db } from '../../db/engine.ts'
import { CompressedBodies } from '../../http/compressed-bodies.ts'
import { readChangedAssets } from '../../land/changes/change-journal.ts'
import { readLandHead } from '../../land/changes/land-head.ts'
import { importSnapshot } from '../../land/snapshot/import.ts'
import { buildState } from '../../state/builders/build-state.ts'
import {
  parseVersion,
  type StateAt,
  stateAt,
  versionOf,
  versionText,
} from '../../state/differences/state-version.ts'
import { State } from '../../state/state.ts'
import { FeedBodies } from './feed-bodies.ts'
import { writeFeed } from './feed-writer.ts'

const RADIUS = 12
const SEED = 3
const AREA = `-${RADIUS},-${RADIUS},${RADIUS},${RADIUS}`
/** More cells than parcels: the bounds of the world contain cells without a parcel. */
const WORLD = parseWorld(`${AREA};13,-3,14,3`)!

const open = freshEngine('postgres')
let db: Db
let nowMs = REFERENCE_TIME_MS

beforeAll(async () => {
  db = (await open()).db
  const folder = emptyDir()
  await writeDemoSnapshot(SEED, folder, undefined, { radius: RADIUS })
  const options = { world: parseWorld(AREA)!, clock: testClock(), dryRun: false }
  expect((await importSnapshot(db, folder, options)).errors).toEqual([])
})

/** The state as any process reads it, at the time of the story. */
async function stateNow(): Promise<StateAt> {
  const head = await readLandHead(db)
  const parts = await buildState(db, WORLD, { ...head, worldId: head.worldId! })
  return stateAt(new State(parts), nowMs)
}

/** Every cell as a tile, to compare grids that number owners and estates differently. */
function tilesOf(grid: FeedGrid): Map<string, FeedTile> {
  const { minX, minY, maxX, maxY } = grid.bounds
  const tiles = new Map<string, FeedTile>()
  for (let x = minX; x <= maxX; x++) {
    for (let y = maxY; y >= minY; y--) tiles.set(`${x},${y}`, grid.tileAt(x, y))
  }
  return tiles
}

describe('the whole world', () => {
  test('is read from its bytes as its records are, with empty cells outside the world', async () => {
    const now = await stateNow()
    const grid = new FeedGrid(readFeed(writeFeed(now)))
    const tiles = tilesOf(grid)
    const expected = new Map(
      referenceTiles(new ReferenceLand(demoWorld(SEED, { radius: RADIUS })), nowMs).map((tile) => [
        `${tile.x},${tile.y}`,
        feedTile(tile),
      ]),
    )
    const types = new Set([...tiles.values()].map(({ type }) => type))

    expect(grid.bounds).toEqual(WORLD.bounds)
    expect(grid.state).toBe(versionText(versionOf(now)))
    expect(grid.revision).toBe(now.state.revision)
    expect(grid.timeMs).toBe(now.state.freshness(now.openOffers.lastExpiryMs).changedAtMs)
    for (const [place, tile] of tiles) expect([place, tile]).toEqual([place, expected.get(place) ?? OUTSIDE])
    expect([...types].sort()).toEqual(['district', 'outside', 'owned', 'plaza', 'road', 'unowned'])
    expect([...tiles.values()].some(({ isOnSale }) => isOnSale)).toBe(true)
  })

  test('lists each owner and each estate once', async () => {
    const { owners, estates } = readFeed(writeFeed(await stateNow()))

    expect(new Set(owners).size).toBe(owners.length)
    expect(new Set(estates).size).toBe(estates.length)
    expect(estates.length).toBeGreaterThan(1)
  })
})

const OUTSIDE: FeedTile = {
  type: 'outside',
  joins: { left: false, top: false, topLeft: false },
  isOnSale: false,
  owner: undefined,
  estate: undefined,
}

function feedTile({ type, joins, owner, estateId, price }: ReferenceTile): FeedTile {
  return { type, joins, isOnSale: price !== undefined, owner, estate: estateId }
}

const SPAN_MS = 50_000

type Step =
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'change'; readonly changes: readonly Choice[] }

interface Choice {
  readonly what: (typeof WHATS)[number]
  readonly x: number
  readonly y: number
  readonly pick: number
  readonly ms: number
}

const WHATS = [
  'move-parcel',
  'sell-parcel',
  'change-district',
  'change-estate',
  'create-estate',
  'offer-parcel',
  'offer-estate',
  'close-offer',
  'remove-offer',
  'remove-estate',
] as const

const choice: fc.Arbitrary<Choice> = fc.record({
  what: fc.constantFrom(...WHATS),
  x: fc.integer({ min: -RADIUS, max: RADIUS }),
  y: fc.integer({ min: -RADIUS, max: RADIUS }),
  pick: fc.nat({ max: 1_000 }),
  ms: fc.integer({ min: 1, max: 2 * SPAN_MS }),
})

const step: fc.Arbitrary<Step> = fc.oneof(
  // Also backwards: the process that sends the changes may have a slower clock than the one that sent the world.
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('wait'), ms: fc.integer({ min: -SPAN_MS / 4, max: SPAN_MS }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('change'),
      changes: fc.array(choice, { minLength: 1, maxLength: 4 }),
    }),
  },
)

/** Clients with different intervals: the n-th client reads in every n-th round. */
const READERS = 3

describe('what changed', () => {
  test('leads from any earlier state to the current one, after any changes', async () => {
    const seen = { changes: 0, nothing: 0 }
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 10 }), async (steps) => {
        const start = writeFeed(await stateNow())
        const readers = Array.from({ length: READERS }, () => new FeedGrid(readFeed(start)))
        for (const [round, one] of steps.entries()) {
          if (one.kind === 'wait') nowMs += one.ms
          else await applyLandChanges(db, await changesFor(one.changes), nowMs)
          const now = await stateNow()
          const whole = new FeedGrid(readFeed(writeFeed(now)))
          const awake = readers.filter((_, i) => round % (i + 1) === 0 || round === steps.length - 1)
          for (const reader of awake) {
            seen[await keepUp(reader, now)]++
            expect(reader.state).toBe(whole.state)
            expect(tilesOf(reader)).toEqual(tilesOf(whole))
          }
        }
      }),
      { numRuns: runs(5), endOnFailure: true },
    )
    // All kinds of answers have occurred
    expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(3)
  })

  /** Reads from another process than the one that sent the client's state. */
  async function keepUp(reader: FeedGrid, now: StateAt): Promise<'changes' | 'nothing'> {
    const part = readFeed(await changesSince(reader.state, now))
    reader.apply(part)
    expect(part.since).toBeDefined()
    return part.cells.length === 0 ? 'nothing' : 'changes'
  }

  test('is the same bytes from every process, at any time until the next offer expires', async () => {
    const before = await stateNow()
    await applyLandChanges(db, await changesFor([{ what: 'sell-parcel', x: 1, y: 2, pick: 1, ms: 1 }]), nowMs)
    const state = (await stateNow()).state
    const { nextExpiryMs } = state.openOffers(nowMs)
    const since = versionText(versionOf(before))

    const first = await changesSince(since, stateAt(state, nowMs))
    const last = await changesSince(since, stateAt((await stateNow()).state, nextExpiryMs - 1))

    expect(readFeed(first).cells).toHaveLength(4)
    expect(last).toEqual(first)
  })

  test('is sent as the whole world if it is not known', async () => {
    const now = await stateNow()
    const state = versionOf(now)
    const whole = writeFeed(now)

    expect((await changesSince(versionText(state), now)).length).toBeLessThan(200)
    for (const since of [
      { ...state, revision: 0 }, // the journal has no entry for an import
      { ...state, revision: state.revision + 1 },
      { ...state, origin: 'another' },
    ])
      expect((await changesSince(versionText(since), now)).equals(whole), JSON.stringify(since)).toBe(true)
  })

  test('is sent as the whole world if most of it has changed', async () => {
    const since = versionText(versionOf(await stateNow()))
    const nameColumn = (x: number) =>
      Array.from({ length: 2 * RADIUS + 1 }, (_, i): LandChange => {
        return { kind: 'change-parcel', x, y: i - RADIUS, to: { name: `column ${x}` } }
      })
    await applyLandChanges(db, nameColumn(-1), nowMs)
    const less = await stateNow()
    await applyLandChanges(db, nameColumn(2), nowMs)
    const more = await stateNow()

    // Two columns of 25 cells each: the one that changed, and the one that may join it.
    expect(readFeed(await changesSince(since, less)).cells).toHaveLength(50)
    expect(await changesSince(since, more)).toEqual(writeFeed(more))
  })

  test('is made once for all clients, for the last few states, and again after a failure', async () => {
    const now = await stateNow()
    const state = versionOf(now)
    let reads = 0
    const bodies = new FeedBodies(new CompressedBodies(), async () => {
      reads++
      if (reads === 1) throw new Error('the database is not reachable')
      return { parcels: [], estates: [], publications: [] }
    })
    const read = (revision: number) => bodies.changesSince({ ...state, revision }, now)
    const readsFor = async (ask: () => Promise<unknown>) => {
      const before = reads
      await ask()
      return reads - before
    }

    await expect(read(0)).rejects.toThrow('the database is not reachable')
    expect(await readsFor(() => Promise.all([read(0), read(0), read(0)]))).toBe(1)
    expect(await readsFor(() => read(0))).toBe(0)
    expect(await readsFor(() => read(state.revision - 1))).toBe(1)
    // Nine states: one more than the cache holds.
    const older = Array.from({ length: 9 }, (_, i) => ({ ...state, revision: 0, lastExpiryMs: i + 1 }))
    const askAll = async () => {
      for (const since of older) await bodies.changesSince(since, now)
    }
    expect(await readsFor(askAll)).toBe(9)
    expect(await readsFor(askAll)).toBe(9)
    expect(await readsFor(() => bodies.changesSince(older[8]!, now))).toBe(0)
    // None of them has pushed out a state that this process has had.
    expect(await readsFor(() => read(state.revision - 1))).toBe(0)
    expect(bodies.world(now)).toBe(bodies.world(now))
  })

  test('a state has one written form', () => {
    const state = { origin: '5f1c3a9b2d40-Kw3xZ', revision: 7, lastExpiryMs: 0 }

    expect(versionText(state)).toBe('1.5f1c3a9b2d40-Kw3xZ.7.0')
    expect(parseVersion('1.5f1c3a9b2d40-Kw3xZ.7.0')).toEqual(state)
    for (const text of [
      '',
      '1.a.7',
      '1.a.7.0.0',
      '1.a.07.0',
      '1.a.-7.0',
      '2.a.7.0',
      '1..7.0',
      '1.a.7.1e3',
      ' 1.a.7.0',
    ])
      expect(parseVersion(text), text).toBeUndefined()
  })

  async function changesSince(since: string, now: StateAt): Promise<Buffer> {
    const bodies = new FeedBodies(new CompressedBodies(), (worldId, range) =>
      readChangedAssets(db, worldId, range),
    )
    return (await bodies.changesSince(parseVersion(since)!, now)).bytesIn(undefined)
  }

  let names = 0

  async function changesFor(choices: readonly Choice[]): Promise<LandChange[]> {
    const changes: LandChange[] = []
    for (const one of choices) changes.push(await changeFor(one))
    return changes
  }

  async function changeFor({ what, x, y, pick, ms }: Choice): Promise<LandChange> {
    const estates = await db.selectFrom('estate').select('id').orderBy('id').execute()
    const estate = estates[pick % estates.length]!.id
    const name = `change ${names++}`
    const owner = addressOf(`owner ${pick % 7}`)
    const offer = { block_time_created_at_ms: nowMs, expires_at_ms: nowMs + ms }
    switch (what) {
      case 'move-parcel': {
        const to = pick % 3 === 0 ? null : estate
        return { kind: 'change-parcel', x, y, to: { estate_id: to, estate_position: pick } }
      }
      case 'sell-parcel':
        return { kind: 'change-parcel', x, y, to: { owner: pick % 4 === 0 ? null : owner } }
      case 'change-district': {
        const districts = await db.selectFrom('district').select('id').orderBy('id').execute()
        const district_id = pick % 3 === 0 ? null : districts[pick % districts.length]!.id
        return { kind: 'change-parcel', x, y, to: { district_id } }
      }
      case 'change-estate':
        return { kind: 'change-estate', id: estate, to: { owner } }
      case 'create-estate':
        return { kind: 'create-estate', estate: estateRow(String(1_000 + names), { owner }) }
      case 'offer-parcel': {
        const publication = publicationRow(name, { ...offer, asset_id: `${x},${y}` })
        return { kind: 'open-publication', publication }
      }
      case 'offer-estate': {
        const publication = publicationRow(name, { ...offer, asset_id: estate, asset_type: 'estate' })
        return { kind: 'open-publication', publication }
      }
      case 'remove-estate':
        return { kind: 'remove-estate', id: estate }
      case 'remove-offer':
      case 'close-offer': {
        const offers = await db.selectFrom('publication').select('key').orderBy('key').execute()
        const { key } = offers[pick % offers.length]!
        if (what === 'remove-offer') return { kind: 'remove-publication', key }
        return { kind: 'close-publication', key, to: { status: 'sold', buyer: owner, atMs: nowMs } }
      }
    }
  }
})
