import { beforeAll, expect, test } from 'vitest'
import { describeOnOneEngine, emptyDir } from '../../test/support/engines.ts'
import { hashOf } from '../../test/support/land-rows.ts'
import { testClock } from '../../test/support/land-server.ts'
import { type Records, TINY_WORLD, tinyRecords, tinySnapshot } from '../../test/support/tiny-world.ts'
import { readConfig } from '../config/config.ts'
import type { Db } from '../db/engine.ts'
import { inTransaction } from '../db/transaction.ts'
import { readChainPosition, startPosition } from '../land/changes/chain-position.ts'
import { importSnapshot } from '../land/snapshot/import.ts'
import { openChain } from './chain.ts'
import { DatabaseDoor } from './follow/database-door.ts'
import { type SharedStatus, StatusReader } from './follow/status-reader.ts'

const START = { number: 10, hash: hashOf('start'), parentHash: '', timeS: 0, logsDigest: undefined }

describeOnOneEngine('what a process that follows says of itself', (open) => {
  const clock = testClock()
  let db: Db

  beforeAll(async () => {
    db = (await open()).db
    const records = Object.fromEntries(Object.keys(tinyRecords()).map((set) => [set, []]))
    const { worldId } = await importSnapshot(db, tinySnapshot({ records: records as unknown as Records }), {
      world: TINY_WORLD,
      clock,
      dryRun: false,
    })
    const followed = { chainId: 1, contractsHash: '', rulesVersion: 1, block: START }
    await inTransaction(db, (tx) => startPosition(tx, worldId!, followed))
  })

  test('while no node answers, its status has the failure and when it began', async () => {
    const ending = new AbortController()
    const config = readConfig({ CHAIN_RPC_URLS: 'http://127.0.0.1:9/secret-key', DATA_DIR: emptyDir() })
    const log = (line: string) => line.includes('cannot be followed') && ending.abort()
    const chain = await openChain({ config, db, clock, signal: new AbortController().signal, log })
    await chain.follow({ until: undefined, signal: ending.signal, endsAt: [] })
    await chain.close()

    const { failure } = JSON.parse((await readChainPosition(db))!.status!) as SharedStatus
    expect(failure).toMatchObject({ sinceMs: clock.nowMs(), answeredAtMs: null })
    expect(failure!.message).toContain('no Ethereum node can be asked')
    expect(failure!.message).not.toContain('secret-key')
  })

  test('a process that ends because the chain contradicts it leaves the reason to servers that do not follow', async () => {
    let reason: string | null = null
    const door = new DatabaseDoor({
      db,
      clock,
      holder: 'command',
      context: { contracts: { estateRegistry: null, legacyMarketplace: null, bids: null, rentals: null } },
      status: () => JSON.stringify({ network: 'mainnet', head: null, reason, failure: null }),
      steadyMs: () => clock.nowMs(),
    })
    expect(await door.lead()).toBe('leads')
    reason = 'The node has another block 7 below block 10, which was final.'
    await door.release()

    const { read } = new StatusReader({ db, clock })
    expect(await read()).toMatchObject({ state: 'stopped', reason, block: { number: 10 }, node: null })
    expect((await readChainPosition(db))!.holder).toBeUndefined()
  })
})
