import { expect } from 'vitest'
import { type Chain, openChain } from '../../src/chain/chain.ts'
import { readConfig } from '../../src/config/config.ts'
import type { Db } from '../../src/db/engine.ts'
import { EVENT_TABLES } from '../../src/land/changes/event-tables.ts'
import type { EventTable } from '../../src/land/events/land-rows.ts'
import { emptyDir } from './engines.ts'
import { testClock } from './land-server.ts'
import type { SimulatedChain } from './simulated-chain.ts'

export interface FollowedLand {
  readonly chain: Chain
  readonly lines: readonly string[]
  /** Reads the history, where there is no world yet. */
  readHistory(ground?: string): Promise<void>
  /** Follows to a block, or to the newest one. */
  followTo(until: number): Promise<void>
}

/** Follows a simulated chain in this process. */
export async function followLand(
  db: Db,
  simulated: Pick<SimulatedChain, 'address' | 'env'>,
  { node = '', dataDir = emptyDir() }: { readonly node?: string; readonly dataDir?: string } = {},
): Promise<FollowedLand> {
  const url = node === '' ? simulated.address : `${simulated.address}/nodes/${node}`
  const config = readConfig({ ...simulated.env, CHAIN_RPC_URLS: url, DATA_DIR: dataDir })
  const lines: string[] = []
  const { signal } = new AbortController()
  const clock = testClock()
  const chain = await openChain({ config, db, clock, signal, log: (line) => lines.push(line) })
  return {
    chain,
    lines,
    readHistory: (ground) =>
      chain.readHistory({ ground, until: undefined, replaces: ground !== undefined }, () => undefined),
    followTo: async (until) => {
      clock.set(clock.nowMs() + 31_000) // What failed is tried again.
      const result = await chain.follow({ until, signal, endsAt: ['stopped', 'no position'] })
      expect([result, lines]).toEqual(['reached', lines])
    },
  }
}

/** All rows that events write, of the world that is shown, without its number. */
export async function rowsOf(db: Db): Promise<Readonly<Record<EventTable, readonly string[]>>> {
  const { world_id } = await db.selectFrom('land_state').select('world_id').executeTakeFirstOrThrow()
  const tables = await Promise.all(
    EVENT_TABLES.map(async (table) => {
      const rows = await db.selectFrom(table).selectAll().where('world_id', '=', world_id!).execute()
      return [table, rows.map((row) => JSON.stringify({ ...row, world_id: 0 })).sort()] as const
    }),
  )
  return Object.fromEntries(tables) as unknown as Record<EventTable, readonly string[]>
}
