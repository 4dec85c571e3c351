import { parseCompleteness, shownCompleteness } from '@landpass/server/chain/check/completeness'
import type { Db } from '@landpass/server/db/engine'
import { readChainPosition } from '@landpass/server/land/changes/chain-position'
import { type FollowedLand, followLand } from '@landpass/server/test/support/chain/followed-land'
import { FixedTiming } from '@landpass/server/test/support/chain/scripted-node'
import { type ChainHere, simulateChainHere } from '@landpass/server/test/support/chain/simulated-chain'
import { linesOfContracts, linesOfTables } from '@landpass/server/test/support/chain/truth-rows'
import { freshEngine } from '@landpass/server/test/support/database/engines'
import { HAS_FIXED_SEED, runs } from '@landpass/server/test/support/run/property-seed'
import type { NodeSettings } from '@landpass/simulators/chain/node/settings'
import { TRUTH_PARTS } from '@landpass/simulators/chain/truth'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'

/** What nodes leave out, by chance: with two of them it is never shown, with one it is noticed by the contracts and mended. */

const open = freshEngine('postgres')
/** Uses of signatures are not rows that say what is so now. */
const PARTS = TRUTH_PARTS.filter((part) => part !== 'signatures')
/** Contracts have no list of them: that one is missing shows in nothing else. */
const RIGHTS = ['approvals_for_all', 'update_managers']
/** Most of the chain is history. */
const NEAR = { finalized_depth: 16 }

let chains: readonly ChainHere[]
let db: Db

beforeAll(async () => {
  db = (await open()).db
  chains = await Promise.all(
    [3, 8].map((seed) => simulateChainHere({ seed, blocks: 80, world: '-2,-2,2,2', transactions: 2 })),
  )
})

const gaps = { gap_percent: fc.integer({ min: 1, max: 12 }), gap_seed: fc.nat({ max: 1_000 }) }
const receipts = fc.constantFrom('served' as const, 'unknown_method' as const)

/** Reads the history from nodes, each with its faults; undefined where no world was made of it. */
async function readFrom(
  simulated: ChainHere,
  faults: readonly Partial<NodeSettings>[],
): Promise<FollowedLand | undefined> {
  const urls: string[] = []
  await simulated.reset()
  for (const [at, fault] of faults.entries()) {
    const name = `node-${at}`
    await simulated.change({ ...NEAR, ...fault }, name)
    const host = at === 0 ? simulated.address : simulated.address.replace('127.0.0.1', 'localhost')
    urls.push(`${host}/nodes/${name}`)
  }
  const land = await followLand(db, simulated, { urls, timing: new FixedTiming() })
  const failure = await land.replaceWorld().catch((error: unknown) => error)
  if (failure === undefined) return land
  expect(String(failure)).toMatch(/left out logs|does not have the old blocks/)
  await land.chain.close()
  return undefined
}

async function wrongParts({ chain }: ChainHere, number: number): Promise<readonly string[]> {
  const contracts = linesOfContracts({ contracts: chain.contracts, head: { number } })
  const tables = await linesOfTables(db, chain.contracts)
  return PARTS.filter((part) => JSON.stringify(tables[part]) !== JSON.stringify(contracts[part]))
}

/** Follows until all land has been compared with the contracts. */
async function compareAll({ chain }: FollowedLand) {
  const ending = new AbortController()
  const following = chain.follow({ until: undefined, signal: ending.signal, endsAt: [] })
  const read = async () => parseCompleteness((await readChainPosition(db))!.completeness)
  await expect.poll(async () => (await read()).whole, { interval: 20 }).not.toBeNull()
  ending.abort()
  await following
  return shownCompleteness(await read())
}

test('what the only node leaves out of its ranges is never called checked: it is found, read again and mended', async () => {
  const seen = { refused: 0, right: 0, mended: 0 }
  const faults = fc.record({ at: fc.constantFrom(0, 1), block_receipts: receipts, ...gaps })
  await fc.assert(
    fc.asyncProperty(faults, async ({ at, ...fault }) => {
      const simulated = chains[at]!
      const land = await readFrom(simulated, [fault])
      if (!land) {
        seen.refused += 1
        return
      }
      const { number } = await simulated.head()
      await land.followTo(number)
      const wrong = await wrongParts(simulated, number)
      let found = await compareAll(land)
      if (wrong.length > 0 && wrong.every((part) => RIGHTS.includes(part))) {
        await land.chain.close()
        return
      }
      expect(found.state).toBe(wrong.length === 0 ? 'checked' : 'differs')
      for (let tries = 0; found.state === 'differs' && (await land.chain.mend()); tries++) {
        expect(await land.chain.whyOutdated()).toBe('missing logs')
        await land.chain.rebuild(undefined, () => undefined)
        found = await compareAll(land)
        expect(tries).toBeLessThan(5)
      }
      const left = await wrongParts(simulated, number)
      expect([found.state, left.filter((part) => !RIGHTS.includes(part))]).toEqual(['checked', []])
      seen[wrong.length === 0 ? 'right' : 'mended'] += 1
      await land.chain.close()
    }),
    { numRuns: runs(8) },
  )
  if (HAS_FIXED_SEED) expect(Math.min(seen.mended, seen.refused)).toBeGreaterThan(0)
})

test('what one of two nodes leaves out is shown at no block', async () => {
  const faults = fc.record({
    at: fc.constantFrom(0, 1),
    liar: fc.constantFrom(0, 1),
    block_receipts: receipts,
    missing_log: fc.boolean(),
    newest_logs_empty: fc.boolean(),
    ...gaps,
  })
  await fc.assert(
    fc.asyncProperty(faults, async ({ at, liar, block_receipts, ...fault }) => {
      const simulated = chains[at]!
      const honest = { block_receipts }
      const faulty = { ...fault, block_receipts }
      const land = await readFrom(simulated, liar === 0 ? [faulty, honest] : [honest, faulty])
      expect(land).toBeDefined()
      for (let block = 0; block < 3; block++) {
        const { number } = await simulated.mine(1)
        await land!.followTo(number)
        expect(await wrongParts(simulated, number)).toEqual([])
      }
      await land!.chain.close()
    }),
    { numRuns: runs(5) },
  )
})
