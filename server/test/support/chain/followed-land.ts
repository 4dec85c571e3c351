import { expect } from 'vitest'
import { type Chain, openChain } from '../../../src/chain/chain.ts'
import { RULES_VERSION } from '../../../src/chain/follow/rules-version.ts'
import { REAL_TIMING, type Timing } from '../../../src/chain/rpc/timing.ts'
import { type FixedLimits, readConfig } from '../../../src/config/config.ts'
import type { Db } from '../../../src/db/engine.ts'
import { EVENT_TABLES } from '../../../src/land/changes/event-tables.ts'
import type { EventTable } from '../../../src/land/events/land-rows.ts'
import { emptyDir, freshEngine } from '../database/engines.ts'
import { type TestClock, testClock } from '../http/land-server.ts'
import type { SimulatedChain } from './simulated-chain.ts'

export interface FollowedLand {
  readonly chain: Chain
  readonly lines: readonly string[]
  /** Reads the history, where there is no world yet. */
  readHistory(ground?: string): Promise<void>
  /** Reads the history again, and replaces the world. */
  replaceWorld(): Promise<void>
  /** Follows to a block, or to the newest one. */
  followTo(until: number): Promise<void>
}

export interface FollowOptions {
  /** The name of the simulator's node. */
  readonly node?: string
  /** The addresses of the nodes, where that is not enough. */
  readonly urls?: readonly string[]
  readonly dataDir?: string
  /** A clock that others read as well, and that the test moves. */
  readonly clock?: TestClock
  readonly timing?: Timing
  /** More settings. */
  readonly env?: Readonly<Record<string, string>>
  readonly limits?: Partial<FixedLimits>
}

/** Pauses for 1 ms at most; then as much time has passed as for the whole pause. */
class HurriedTiming implements Timing {
  private skippedMs = 0

  readonly nowMs = (): number => REAL_TIMING.nowMs() + this.skippedMs

  readonly pause = async (ms: number, signal?: AbortSignal): Promise<void> => {
    const shortMs = Math.min(ms, 1)
    this.skippedMs += ms - shortMs
    await REAL_TIMING.pause(shortMs, signal)
  }
}

/** Follows a chain in this process. */
export async function followLand(
  db: Db,
  { address, env }: Pick<SimulatedChain, 'address' | 'env'>,
  {
    node = '',
    urls,
    dataDir = emptyDir(),
    clock: given,
    timing = new HurriedTiming(),
    env: more,
    limits,
  }: FollowOptions = {},
): Promise<FollowedLand> {
  const nodes = urls ?? [node === '' ? address : `${address}/nodes/${node}`]
  // A pause takes no time here. Where nothing else confirms the newest block, the next one is looked for during 15 seconds of
  // pauses: 15 requests, with the 100 ms of simulated-chain.ts 150.
  const settings = {
    ...{ ...env, CHAIN_RPC_URLS: nodes.join(' '), DATA_DIR: dataDir, CHAIN_POLL_MS: '1000' },
    ...more,
  }
  const config = readConfig(settings, limits)
  const lines: string[] = []
  const { signal } = new AbortController()
  const clock = given ?? testClock()
  const log = (line: string) => lines.push(line)
  const chain = await openChain({
    ...{ config, db, clock, signal, log, timing },
    fetchesHere: true, // A thread would only cost its start.
  })
  const readHistory = (ground: string | undefined, replaces: boolean) =>
    chain.readHistory({ ground, until: undefined, replaces }, () => undefined)
  return {
    chain,
    lines,
    readHistory: (ground) => readHistory(ground, ground !== undefined),
    replaceWorld: () => readHistory(undefined, true),
    followTo: async (until) => {
      if (!given) clock.set(clock.nowMs() + 31_000) // What failed is tried again.
      const result = await chain.follow({ until, signal, endsAt: ['stopped', 'no position'] })
      expect([result, lines]).toEqual(['reached', lines])
    },
  }
}

export type LandRows = Readonly<Record<EventTable, readonly string[]>>

/** All rows that events write, of the world that is shown, without its number. */
export async function rowsOf(db: Db): Promise<LandRows> {
  const { world_id } = await db.selectFrom('land_state').select('world_id').executeTakeFirstOrThrow()
  const tables = await Promise.all(
    EVENT_TABLES.map(async (table) => {
      const rows = await db.selectFrom(table).selectAll().where('world_id', '=', world_id!).execute()
      return [table, rows.map((row) => JSON.stringify({ ...row, world_id: 0 })).sort()] as const
    }),
  )
  // The compiler types keys of an object made of entries as any text
  return Object.fromEntries(tables) as unknown as LandRows
}

/** Clean runs over a chain as it is now, in a database of their own. Call it where `afterAll` may be called. */
export function cleanRuns(): (simulated: SimulatedChain) => Promise<LandRows> {
  const open = freshEngine('postgres')
  let clean: Promise<{ readonly db: Db }> | undefined
  return async (simulated) => {
    clean ??= open()
    const { db } = await clean
    // A node for which every block is final, so that the history reaches the newest one.
    await simulated.change({ finalized_depth: 0 }, 'clean')
    const { replaceWorld } = await followLand(db, simulated, { node: 'clean' })
    await replaceWorld()
    return rowsOf(db)
  }
}

/** Table by table, for a message of bearable length. */
export function expectSameRows(rows: LandRows, expected: LandRows): void {
  for (const table of EVENT_TABLES) expect(rows[table], table).toEqual(expected[table])
}

/** Makes a followed world look as if older rules had made it, which gave other rows for the same logs. */
export async function makeOld(db: Db): Promise<void> {
  await db.updateTable('parcel').set({ name: 'as the old rules said', owner: null }).execute()
  await db
    .updateTable('chain_position')
    .set({ rules_version: RULES_VERSION - 1 })
    .execute()
}
