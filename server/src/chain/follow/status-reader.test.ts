import {
  type DatabaseConnection,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely'
import { afterEach, expect, test, vi } from 'vitest'
import type { Db } from '../../db/engine.ts'
import type { Database } from '../../db/schema.ts'
import type { PositionRow } from '../../land/changes/chain-position.ts'
import { type FollowFailure, type SharedStatus, StatusReader, statusOf } from './status-reader.ts'

const NOW_MS = 1_700_000_100_000
const FIRST_BLOCK = { number: 10, hash: '0x0a', timeS: 1_700_000_000 }

function positionWith(
  failure: FollowFailure | null,
  changes: Partial<PositionRow & { reason: string }> = {},
): PositionRow {
  const head = { number: 10, timeS: 1_700_000_000 }
  const reason = changes.reason ?? null
  const status: SharedStatus = { network: 'mainnet', head, reason, failure, problem: null }
  return {
    worldId: 1,
    chainId: 1,
    contractsHash: '',
    rulesVersion: 1,
    epoch: 1,
    holder: 'one',
    leaseUntilMs: NOW_MS + 60_000,
    status: JSON.stringify(status),
    completeness: undefined,
    finalized: FIRST_BLOCK,
    newest: FIRST_BLOCK,
    ...changes,
  }
}

const shown = (position: PositionRow) => {
  const { state, reason, node } = statusOf(position, { nowMs: NOW_MS, own: undefined })
  return { state, reason, node }
}
const isCurrent = { head: 10, lagBlocks: 0, lagSeconds: 0 }

test('land that differs from the contracts is named, and what fails at this time comes first', () => {
  const named = { startedAtMs: 0, block: 9, differing: 3, assets: ['parcel 1,2', 'estate 4'] }
  const completeness = JSON.stringify({ whole: named, round: null })
  const { state, reason } = shown(positionWith(null, { completeness }))
  expect([state, reason]).toEqual([
    'differs',
    expect.stringContaining('not what the contracts say: parcel 1,2, estate 4, and 1 more.'),
  ])
  const failure = {
    message: 'no node',
    sinceMs: NOW_MS - 60_000,
    answeredAtMs: NOW_MS - 60_000,
    isLasting: false,
  }
  expect(shown(positionWith(failure, { completeness }))).toMatchObject({
    state: 'differs',
    reason: expect.stringContaining('no node'),
  })
})

test('an outage of all nodes shows after a minute: the reason, and no lag', () => {
  const outage = (ms: number): FollowFailure => ({
    message: 'no Ethereum node can be asked: node1 does not answer',
    sinceMs: NOW_MS - ms,
    answeredAtMs: NOW_MS - ms,
    isLasting: false,
  })
  expect(shown(positionWith(null))).toEqual({ state: 'following', reason: null, node: isCurrent })
  expect(shown(positionWith(outage(59_999)))).toEqual({ state: 'following', reason: null, node: isCurrent })
  const { state, reason, node } = shown(positionWith(outage(60_000)))
  expect([state, node]).toEqual(['following', null])
  expect(reason).toContain('no Ethereum node can be asked: node1 does not answer')
})

test('wrong addresses of all nodes, and a land that waits for finality, show at once', () => {
  const failure = { message: 'node1 is of chain 5', sinceMs: NOW_MS, answeredAtMs: null, isLasting: true }
  expect(shown(positionWith(failure)).reason).toContain('node1 is of chain 5')
  const { status } = positionWith(null)
  const late = { ...JSON.parse(status!), problem: 'no block after 10 has become final' }
  expect(shown(positionWith(null, { status: JSON.stringify(late) }))).toMatchObject({
    ...{ state: 'following', reason: 'The land is late: no block after 10 has become final.' },
  })
})

test('a process that never had an answer says so, too', () => {
  const failure = { message: 'no node', sinceMs: NOW_MS - 60_000, answeredAtMs: null, isLasting: false }
  expect(shown(positionWith(failure))).toMatchObject({
    state: 'following',
    reason: expect.stringContaining('no node'),
    node: null,
  })
})

test('where nodes answer and blocks cannot be read, the lag is shown with the reason', () => {
  const failure = {
    message: 'the logs are of another chain',
    sinceMs: NOW_MS - 60_000,
    answeredAtMs: NOW_MS,
    isLasting: false,
  }
  expect(shown(positionWith(failure))).toMatchObject({
    reason: expect.stringContaining('the logs are of another chain'),
    node: isCurrent,
  })
})

test('a block that was applied after the head was asked for is the head, and nothing lags', () => {
  const newest = { number: 12, hash: '0x0c', timeS: 1_700_000_024 }
  expect(shown(positionWith(null, { newest })).node).toEqual({ head: 12, lagBlocks: 0, lagSeconds: 0 })
})

test('nobody who follows means no lag', () => {
  expect(shown(positionWith(null, { leaseUntilMs: NOW_MS }))).toMatchObject({ state: 'off', node: null })
  const stopped = { holder: undefined, leaseUntilMs: 0, reason: 'below finality' }
  expect(shown(positionWith(null, stopped))).toEqual({
    state: 'stopped',
    reason: 'below finality',
    node: null,
  })
})

const own = { state: 'stopped', reason: 'The chain cannot be followed now.' } as const
const history = { holder: 'another', network: 'mainnet', chainId: 1, progress: 'history: block 7 of 9' }
const notLed = { holder: undefined, leaseUntilMs: 0 }

test('while any process follows, its state counts: not the failure of this one, nor that another world is read', () => {
  const led = positionWith(null)
  expect(statusOf(led, { nowMs: NOW_MS, own, history })).toMatchObject({ state: 'following', reason: null })
  const stopped = positionWith(null, { reason: 'below finality' })
  expect(statusOf(stopped, { nowMs: NOW_MS, own })).toMatchObject({
    state: 'stopped',
    reason: 'below finality',
  })
  expect(statusOf(positionWith(null, notLed), { nowMs: NOW_MS, own })).toMatchObject(own)
})

test('while no process follows, a history that is read for another world shows, in every process', () => {
  const read = { state: 'history', reason: 'history: block 7 of 9' }
  for (const facts of [notLed, { ...notLed, reason: 'below finality' }, { reason: 'below finality' }])
    for (const ofProcess of [own, undefined])
      expect(statusOf(positionWith(null, facts), { nowMs: NOW_MS, own: ofProcess, history })).toMatchObject(
        read,
      )
  const newer = { state: 'history', reason: 'history: block 8 of 9' } as const
  expect(statusOf(positionWith(null, notLed), { nowMs: NOW_MS, own: newer, history })).toMatchObject(newer)
})

afterEach(() => vi.restoreAllMocks())

test('while the database hangs, one query waits, whoever asks and for how long', async () => {
  let steadyMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => steadyMs)
  const hanging = hangingDatabase()
  const reader = new StatusReader({ db: hanging.db, clock: { nowMs: () => NOW_MS } })
  const reads: Promise<unknown>[] = []
  const recent: Promise<unknown>[] = []
  for (steadyMs = 0; steadyMs < 60_000; steadyMs += 5_000) {
    reads.push(reader.read())
    recent.push(reader.recent())
    await Promise.resolve()
  }
  expect(new Set(await Promise.all(recent))).toEqual(new Set([undefined]))
  expect(hanging.waiting).toHaveLength(1)

  expect(hanging.waiting[0]!.sql).not.toContain('chain_block') // Without finality there may be thousands of them.
  hanging.waiting[0]!.resolve({ rows: [] })
  const answers = await Promise.all(reads)
  expect(new Set(answers).size).toBe(1)
  expect(hanging.waiting).toHaveLength(1)

  const failing = reader.read() // The answer is as old as the query.
  await expect.poll(() => hanging.waiting).toHaveLength(2)
  hanging.waiting[1]!.reject(new Error('the connection was lost'))
  await expect(failing).rejects.toThrow('the connection was lost')
  const again = reader.read()
  await expect.poll(() => hanging.waiting).toHaveLength(3)
  hanging.waiting[2]!.resolve({ rows: [] })
  expect(await again).toMatchObject({ state: 'off', block: null })
  expect(await reader.recent()).toBe(await reader.read())
  expect(hanging.waiting).toHaveLength(3)
})

interface WaitingQuery {
  readonly sql: string
  readonly resolve: (result: QueryResult<never>) => void
  readonly reject: (error: Error) => void
}

/** Each query waits until the test answers it. */
function hangingDatabase(): { readonly db: Db; readonly waiting: readonly WaitingQuery[] } {
  const waiting: WaitingQuery[] = []
  const connection: DatabaseConnection = {
    executeQuery: ({ sql }) => new Promise((resolve, reject) => waiting.push({ sql, resolve, reject })),
    streamQuery: () => expect.fail('nothing is streamed'),
  }
  class HangingDriver extends DummyDriver {
    override async acquireConnection(): Promise<DatabaseConnection> {
      return connection
    }
  }
  const db = new Kysely<Database>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new HangingDriver(),
      createIntrospector: (kysely) => new PostgresIntrospector(kysely),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
  return { db, waiting }
}
