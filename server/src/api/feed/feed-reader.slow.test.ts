import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { FeedError, FeedGrid, readFeed } from '@landpass/client/feed'
import { parseWorld } from '@landpass/client/grid'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { freshEngine } from '../../../test/support/database/engines.ts'
import { TINY_WORLD, tinySnapshot } from '../../../test/support/land/tiny-world.ts'
import { readLandHead } from '../../land/changes/land-head.ts'
import { importSnapshot } from '../../land/snapshot/import.ts'
import { buildState } from '../../state/builders/build-state.ts'
import { stateAt, versionOf } from '../../state/differences/state-version.ts'
import { pagedColumn } from '../../state/parts/columns.ts'
import type { StateParts } from '../../state/parts/parts.ts'
import { State } from '../../state/state.ts'
import { writeFeed } from './feed-writer.ts'

const PAGE = fileURLToPath(new URL('../../../../../docs/feed.md', import.meta.url))
/** Four parcels of the tiny world: three of two estates, and one that is for sale. */
const CORNER = parseWorld('1,0,2,1')!
const NOW_MS = Date.parse('2020-01-01T00:00:00.000Z')

const open = freshEngine('postgres')
let parts: StateParts
let world: Buffer
let changes: Buffer

beforeAll(async () => {
  const { db } = await open()
  const clock = { nowMs: () => NOW_MS }
  const report = await importSnapshot(db, tinySnapshot(), { world: TINY_WORLD, clock, dryRun: false })
  expect(report.errors).toEqual([])
  const { worldId } = await readLandHead(db)
  const state = { worldId: worldId!, lineage: '5f1c3a9b2d40', revision: 7, changedAtMs: NOW_MS, block: null }
  parts = await buildState(db, CORNER, state)
  const now = stateAt(new State(parts), NOW_MS)
  world = writeFeed(now)
  changes = writeFeed(now, { since: { ...versionOf(now), revision: 6 }, cells: Uint32Array.of(1, 3) })
})

test('the bytes that docs/feed.md shows are those of its world', () => {
  const shown = [...readFileSync(PAGE, 'utf8').matchAll(/^```hex\n([\s\S]*?)^```$/gm)].map(([, block = '']) =>
    block.replace(/ {2}.*$/gm, '').replace(/\s/g, ''),
  )

  expect(shown).toEqual([world.toString('hex'), changes.toString('hex')])
})

describe('bytes that are not in the format of the feed', () => {
  test('are refused if they end too early or too late', () => {
    for (const whole of [world, changes]) {
      expect(() => readFeed(whole)).not.toThrow()
      for (let length = 0; length < whole.length; length++) {
        expect(() => readFeed(whole.subarray(0, length)), `${length} bytes`).toThrow(FeedError)
      }
      expect(() => readFeed(Buffer.concat([whole, Buffer.of(0)]))).toThrow(FeedError)
    }
  })

  test('are refused with a sentence or read, without another failure', () => {
    const edit = fc.record({ at: fc.nat(), byte: fc.nat({ max: 255 }) })
    let refused = 0
    fc.assert(
      fc.property(fc.boolean(), fc.array(edit, { minLength: 1, maxLength: 4 }), (isWorld, edits) => {
        const bytes = Buffer.from(isWorld ? world : changes)
        for (const { at, byte } of edits) bytes[at % bytes.length] = byte
        try {
          const { cells, ownerOf, owners } = readFeed(bytes)
          expect(cells.length).toBeLessThan(bytes.length)
          expect(ownerOf.every((owner) => owner <= owners.length)).toBe(true)
        } catch (error) {
          expect(error).toBeInstanceOf(FeedError)
          refused++
        }
      }),
    )
    expect(refused).toBeGreaterThan(10)
  })
})

describe('a grid', () => {
  test('refuses changes for another state or another area, and does not change', () => {
    const grid = new FeedGrid(readFeed(world))
    const { since } = readFeed(changes)
    const before = [grid.state, grid.tileAt(1, 0), grid.tileAt(2, 0)]

    expect(since).not.toBe(grid.state)
    expect(() => grid.apply(readFeed(changes))).toThrow('Read the whole world')
    const elsewhere = { ...readFeed(changes), since: grid.state, bounds: { ...grid.bounds, maxX: 9 } }
    expect(() => grid.apply(elsewhere)).toThrow('Read the whole world')
    expect([grid.state, grid.tileAt(1, 0), grid.tileAt(2, 0)]).toEqual(before)
  })

  test('returns the numbers of the cells that changed', () => {
    const grid = new FeedGrid(readFeed(world))
    grid.state = readFeed(changes).since!

    expect(grid.apply(readFeed(changes))).toEqual(Uint32Array.of(1, 3))
    expect(grid.apply(readFeed(world))).toBeUndefined()
    expect(grid.cellAt(1, 1)).toBe(0)
    expect(grid.cellAt(2, 0)).toBe(3)
    expect([grid.cellAt(0, 0), grid.cellAt(1, 2), grid.tileAt(9, 9).type]).toEqual([-1, -1, 'outside'])
  })
})

test('a world of more than 65,535 owners has wider numbers', () => {
  const count = 70_000
  const address = (i: number) => `0x${i.toString(16).padStart(40, '0')}`
  const none = new Int32Array(count).fill(-1)
  const places = Int32Array.from({ length: count }, (_, i) => i)
  const parcels: StateParts['parcels'] = {
    ...parts.parcels,
    x: places,
    y: new Int32Array(count),
    rowAt: places,
    estate: none,
    owner: pagedColumn(places),
    owners: {
      addresses: Array.from(places, address),
      chunks: [],
    },
    offers: { first: none },
  }
  const bounds = { minX: 0, minY: 0, maxX: count - 1, maxY: 0 }
  const wide = new State({ ...parts, bounds, parcels, cells: new Uint8Array(count).fill(2) })
  const grid = new FeedGrid(readFeed(writeFeed(stateAt(wide, NOW_MS))))

  for (const x of [0, 1, 65_534, 65_535, 65_536, count - 1]) expect(grid.tileAt(x, 0).owner).toBe(address(x))
})
