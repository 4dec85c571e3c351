import { beforeAll, expect, test } from 'vitest'
import { describeOnOneEngine, emptyDir } from '../../test/support/database/engines.ts'
import { StatementCounter } from '../../test/support/database/statement-counter.ts'
import { testClock } from '../../test/support/http/land-server.ts'
import { hashOf } from '../../test/support/land/land-rows.ts'
import { type Records, TINY_WORLD, tinyRecords, tinySnapshot } from '../../test/support/land/tiny-world.ts'
import { serveFollower } from '../cli/follower-server.ts'
import { readConfig } from '../config/config.ts'
import type { Db } from '../db/engine.ts'
import { inTransaction } from '../db/transaction.ts'
import { type KnownChain, readChainPosition, startPosition } from '../land/changes/chain-position.ts'
import { importSnapshot } from '../land/snapshot/import.ts'
import { type Chain, openChain } from './chain.ts'
import { DatabaseWriter, LEASE_MS } from './follow/database-writer.ts'
import { RULES_VERSION } from './follow/rules-version.ts'
import { type SharedStatus, StatusReader } from './follow/status-reader.ts'
import { contractsHash } from './networks/contracts-hash.ts'
import { readNetwork } from './networks/read-network.ts'

const START = { number: 10, hash: hashOf('start'), parentHash: '', timeS: 0, logsDigest: undefined }

describeOnOneEngine('what a process that follows says of itself', (open) => {
  const clock = testClock()
  let db: Db
  let followed: KnownChain

  beforeAll(async () => {
    db = (await open()).db
    const records = Object.fromEntries(Object.keys(tinyRecords()).map((set) => [set, []]))
    const { worldId } = await importSnapshot(db, tinySnapshot({ records: records as unknown as Records }), {
      world: TINY_WORLD,
      clock,
      dryRun: false,
    })
    followed = {
      chainId: 1,
      contractsHash: contractsHash(await readNetwork('mainnet')),
      rulesVersion: RULES_VERSION,
      hasGrownFrom: () => false,
    }
    await inTransaction(db, (tx) => startPosition(tx, worldId!, { ...followed, block: START }))
  })

  async function withChain(work: (chain: Chain) => Promise<void>): Promise<readonly string[]> {
    const config = readConfig({ CHAIN_RPC_URLS: 'http://127.0.0.1:9/secret-key', DATA_DIR: emptyDir() })
    const { signal } = new AbortController()
    const lines: string[] = []
    const chain = await openChain({ config, db, clock, signal, log: (line) => lines.push(line) })
    await work(chain)
    await chain.close()
    return lines
  }

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
    expect(failure!.message).toContain('node1 is avoided')
    expect(failure!.message).not.toMatch(/secret-key|127\.0\.0\.1/)
  })

  test('a process that ends because the chain contradicts it leaves the reason to servers that do not follow', async () => {
    let reason: string | null = null
    const writer = new DatabaseWriter({
      db,
      clock,
      holder: 'command',
      context: { contracts: { estateRegistry: null, legacyMarketplace: null, bids: null, rentals: null } },
      known: followed,
      status: () => JSON.stringify({ network: 'mainnet', head: null, reason, failure: null }),
      steadyMs: () => clock.nowMs(),
    })
    expect(await writer.lead()).toBe('leads')
    reason = 'The node has another block 7. Block 10 and all blocks before it were final.'
    await writer.release()

    const { read } = new StatusReader({ db, clock })
    expect(await read()).toMatchObject({ state: 'stopped', reason, block: { number: 10 }, node: null })
    expect((await readChainPosition(db))!.holder).toBeUndefined()
  })

  test.each([
    ['other contracts', { contracts_hash: 'others' }, 'comes from other contracts'],
    ['another chain', { chain_id: 5 }, 'comes from other contracts'],
    ['newer rules', { rules_version: RULES_VERSION + 1 }, 'by a newer version of Landpass'],
  ])('a world of %s that replaces the followed one is not followed', async (_name, made, refusal) => {
    const before = { ...(await db.selectFrom('chain_position').selectAll().executeTakeFirstOrThrow()) }
    await db.updateTable('chain_position').set(made).execute()
    const lines = await withChain(async (chain) => {
      const { signal } = new AbortController()
      expect(await chain.follow({ until: undefined, signal, endsAt: ['no position'] })).toBe('no position')
      await expect(chain.hasPosition()).rejects.toThrow(refusal)
    })

    expect(lines).toEqual([expect.stringContaining('cannot follow')])
    const after = await db.selectFrom('chain_position').selectAll().executeTakeFirstOrThrow()
    expect(after).toEqual({ ...before, ...made })
    await db.updateTable('chain_position').set(before).execute()
  })

  test('a process that only follows serves its metrics and its health, unless the port is taken', async () => {
    const lines: string[] = []
    const config = readConfig({ METRICS_PORT: '0' })
    await withChain(async (chain) => {
      const parts = { chain, db, clock, ownState: () => undefined, log: (line: string) => lines.push(line) }
      const server = (await serveFollower({ ...parts, config }))!
      const read = async (path: string) => (await fetch(`http://127.0.0.1:${server.port}${path}`)).text()

      await expect.poll(() => read('/metrics')).toContain('landpass_chain_block 10')
      expect(await read('/metrics')).toContain('landpass_chain_blocks_total 0')
      expect(JSON.parse(await read('/health/ready'))).toMatchObject({
        ok: true,
        data: { status: 'ready', chain: { block: 10, state: expect.any(String) } },
      })
      const taken = { metrics: { ...config.metrics, port: server.port } }
      expect(await serveFollower({ ...parts, config: taken })).toBeUndefined()
      expect(await serveFollower({ ...parts, config: readConfig({}) })).toBeUndefined()
      await server.close()
    })

    expect(lines).toEqual([
      expect.stringMatching(/^the metrics are at http/),
      expect.stringContaining('EADDRINUSE'),
    ])
  })

  test('a step stores the status and renews the lease, so the next poll needs no statement for them', async () => {
    const statements = new StatementCounter()
    let head = 10
    const writer = new DatabaseWriter({
      db: db.withPlugin(statements),
      clock,
      holder: 'follower',
      context: { contracts: { estateRegistry: null, legacyMarketplace: null, bids: null, rentals: null } },
      known: followed,
      status: () => JSON.stringify({ head }),
      steadyMs: () => clock.nowMs(),
    })
    expect(await writer.lead()).toBe('leads')
    const { worldId, epoch, blocks } = (await writer.readPosition())!
    const next = {
      number: 11,
      hash: hashOf('next'),
      parentHash: START.hash,
      timeS: 12,
      logsDigest: '',
      events: [],
    }
    clock.set(clock.nowMs() + LEASE_MS / 2)
    head = 11
    await writer.commit({
      worldId,
      epoch,
      from: blocks[0]!,
      undoTo: undefined,
      blocks: [next],
      finalized: blocks[0]!,
    })
    statements.count = 0
    clock.set(clock.nowMs() + 12_000) // the time between two blocks

    expect(await writer.lead()).toBe('leads')

    expect(statements.count).toBe(0)
    const { status, leaseUntilMs } = (await readChainPosition(db))!
    expect(status).toBe('{"head":11}')
    expect(leaseUntilMs).toBe(clock.nowMs() - 12_000 + LEASE_MS)
    await db.updateTable('chain_position').set({ holder: null }).execute()
    const step = { worldId, epoch, from: next, undoTo: undefined, blocks: [], finalized: blocks[0]! }
    await expect(writer.commit(step), 'a process without the lease').rejects.toMatchObject({
      reason: 'another leader',
    })
    statements.count = 0
    head = 12
    await writer.lead()
    expect(statements.count).toBe(1)
  })
})
