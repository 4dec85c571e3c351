import { expect, test } from 'vitest'
import type { AssetName } from '../../land/records/assets.ts'
import { BackgroundCheck } from './background-check.ts'
import type { CheckRequest, CheckResult } from './check-land.ts'
import { parseCompleteness, shownCompleteness } from './completeness.ts'
import type { Difference } from './findings.ts'

const ROUND_MS = 20 * 3_600_000
/** More than a part: 600 parcels and one estate. */
const ASSETS: readonly AssetName[] = [
  ...Array.from({ length: 600 }, (_, x): AssetName => ({ type: 'parcel', id: `${x},0` })),
  { type: 'estate', id: '1' },
]
const differenceOf = (asset: string): Difference => ({
  asset,
  field: 'owner',
  table: '0x01',
  contract: '0x02',
})

/** The contracts and tables of a world, and a clock that moves with each pause. */
class World {
  nowMs = 0
  isLeading = true
  completeness: string | undefined
  /** Names of what differs. */
  wrong: readonly string[] = []
  failure: Error | undefined
  onPause: (ms: number) => void = () => undefined
  onCheck: () => void = () => undefined
  readonly lines: string[] = []
  readonly mendings: number[] = []
  /** How many assets were compared, and when. */
  readonly asked: (number | 'totals')[] = []
  readonly askedAtMs: number[] = []

  start(roundMs: number): BackgroundCheck {
    return new BackgroundCheck({
      roundMs,
      check: async ({ part }) => this.check(part!),
      readWorld: async () => ({ worldId: 1, completeness: this.completeness }),
      assetsAfter: async (_, { after, count }) => {
        const at = ASSETS.findIndex(({ type, id }) => type === after?.type && id === after.id)
        return ASSETS.slice(at + 1, at + 1 + count)
      },
      countAssets: async () => ASSETS.length,
      onMendDue: () => this.mendings.push(this.nowMs),
      store: async (_, change) => {
        const now = change(parseCompleteness(this.completeness))
        this.completeness = JSON.stringify(now)
        return now
      },
      isLeading: () => this.isLeading,
      nowMs: () => this.nowMs,
      pause: async (ms) => {
        this.nowMs += ms
        this.onPause(ms)
      },
      log: (line) => this.lines.push(line),
    })
  }

  get shown() {
    return shownCompleteness(parseCompleteness(this.completeness))
  }

  /** Runs until so much time has passed, or so many comparisons were made. */
  async pass(ms: number, { comparisons = Number.POSITIVE_INFINITY, roundMs = ROUND_MS } = {}) {
    const [untilMs, most] = [this.nowMs + ms, this.asked.length + comparisons]
    const background = this.start(roundMs)
    const isOver = () => this.nowMs >= untilMs || this.asked.length >= most
    const signal = Object.defineProperty({}, 'aborted', { get: isOver })
    await background.run(signal as AbortSignal)
    return background.counts
  }

  private check(part: NonNullable<CheckRequest['part']>): CheckResult {
    this.asked.push(part === 'totals' ? part : part.length)
    this.askedAtMs.push(this.nowMs)
    if (this.failure) throw this.failure
    this.onCheck()
    const names = part === 'totals' ? ['all parcels'] : part.map(({ type, id }) => `${type} ${id}`)
    const differences = this.wrong.filter((asset) => names.includes(asset)).map(differenceOf)
    const assets = part === 'totals' ? 0 : part.length
    const number = 100 + Math.floor(this.nowMs / 12_000)
    return { block: { number, hash: '0x' }, assets, calls: 1, differences, notCompared: {} }
  }
}

test('after the history all land is compared at once, and a new start goes on where the one before ended', async () => {
  const world = new World()
  expect(world.shown).toMatchObject({ state: 'unchecked', block: null, done: null })
  await world.pass(ROUND_MS, { comparisons: 1 })
  expect(world.shown).toMatchObject({ state: 'checking', block: null, done: 500, total: 601 })
  const counts = await world.pass(120_000)

  expect(world.asked).toEqual([500, 101, 'totals'])
  expect(world.shown).toEqual({
    ...{ state: 'checked', block: 105, done: null, total: null, differing: 0, assets: [] },
  })
  expect(counts).toMatchObject({ assets: 101, failures: 0, lastAtMs: 120_000 })
  expect(world.lines).toEqual(['all land was compared with the contracts from block 105 on: no difference'])
})

test('later comparisons are spread over their time, so that each asset has its turn in it', async () => {
  const world = new World()
  await world.pass(2 * ROUND_MS + 600_000)

  const parts = world.askedAtMs.slice(3, 6).map((ms) => Math.round((10 * ms) / ROUND_MS) / 10)
  expect(world.asked.slice(0, 6)).toEqual([500, 101, 'totals', 500, 101, 'totals'])
  expect(parts).toEqual([1, 1.8, 2])
  const once = new World()
  await once.pass(2 * ROUND_MS, { roundMs: 0 })
  expect(once.asked).toEqual([500, 101, 'totals'])
})

test('what differs twice is named, until a later comparison finds it right', async () => {
  const world = new World()
  world.wrong = ['parcel 3,0', 'estate 1', 'all parcels']
  const counts = await world.pass(ROUND_MS)

  expect(world.asked).toEqual([500, 1, 101, 1, 'totals', 'totals'])
  expect(world.shown).toMatchObject({ state: 'differs', differing: 3, assets: world.wrong })
  expect(counts.differences).toEqual(new Map([['owner', 3]]))
  expect(world.lines[0]).toBe(
    'warning: the land is not what the contracts say at block 105: parcel 3,0: owner is "0x01" in the tables, "0x02" in the contract',
  )
  expect(world.mendings).toHaveLength(1)
  await world.pass(ROUND_MS) // Its blocks were read again already.
  expect(world.mendings).toHaveLength(1)
  world.wrong = []
  await world.pass(ROUND_MS / 2)
  expect(world.shown).toMatchObject({ state: 'differs', done: 500 })
  await world.pass(ROUND_MS)
  expect(world.shown).toMatchObject({ state: 'checked', differing: 0, assets: [] })
})

test('what a node answers wrongly once is no difference, and a list of many is cut off', async () => {
  const world = new World()
  world.wrong = ASSETS.map(({ type, id }) => `${type} ${id}`)
  world.onPause = (ms) => {
    if (ms === 15_000) world.wrong = ASSETS.slice(0, 30).map(({ id }) => `parcel ${id}`)
  }
  await world.pass(300_000)

  expect(world.shown).toMatchObject({ state: 'differs', differing: 30 })
  expect(world.shown.assets).toHaveLength(20)
  expect(world.lines[0]).toMatch(/; and 10 more$/)
})

test('that missing logs were found by another process meanwhile is not forgotten', async () => {
  const world = new World()
  world.wrong = ['parcel 3,0']
  await world.pass(600_000)
  const { whole } = parseCompleteness(world.completeness)
  expect(whole).toMatchObject({ mending: 'due' })
  world.onCheck = () => {
    world.completeness = JSON.stringify({ whole: { ...whole, mending: 'found' }, round: null })
  }
  await world.pass(ROUND_MS, { comparisons: 1 })
  expect(parseCompleteness(world.completeness)).toMatchObject({
    whole: { mending: 'found' },
    round: { done: 500 },
  })
})

test('a comparison that fails is counted, said once, and tried again after longer pauses', async () => {
  const world = new World()
  world.failure = new Error('no node')
  const counts = await world.pass(3_600_000)

  expect([counts.failures, world.lines]).toEqual([
    7,
    ['the land cannot be compared with the contracts, which is tried again: no node'],
  ])
  expect(world.shown.state).toBe('unchecked')
  world.failure = undefined
  world.isLeading = false
  await world.pass(3_600_000)
  expect(world.shown.state).toBe('unchecked') // Another process follows, and compares.
  world.isLeading = true
  await world.pass(3_600_000)
  expect(world.shown.state).toBe('checked')
})
