import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { followerSeries } from '@landpass/server/chain/chain-metrics'
import { firstBlock } from '@landpass/server/chain/logs/log-filter'
import type { Db } from '@landpass/server/db/engine'
import { type FollowedLand, followLand } from '@landpass/server/test/support/chain/followed-land'
import { FixedTiming } from '@landpass/server/test/support/chain/scripted-node'
import { type ChainHere, simulateChainHere } from '@landpass/server/test/support/chain/simulated-chain'
import { linesOfContracts, linesOfTables } from '@landpass/server/test/support/chain/truth-rows'
import { emptyDir, freshEngine } from '@landpass/server/test/support/database/engines'
import { expectSame } from '@landpass/server/test/support/run/expect-same'
import { TOPIC } from '@landpass/simulators/chain/contracts/topics'
import { DIALECTS } from '@landpass/simulators/chain/node/dialects'
import type { NodeSettings } from '@landpass/simulators/chain/node/settings'
import { TRUTH_PARTS } from '@landpass/simulators/chain/truth'
import { beforeAll, expect, test } from 'vitest'

/**
 * One node alone, with one fault: the history is read, and after each further block the tables are what the contracts have
 * stored. No step fails for more than a moment.
 */

const open = freshEngine('postgres')
/** Uses of signatures are not rows that say what is so now. */
const PARTS = TRUTH_PARTS.filter((part) => part !== 'signatures')

const FAULTS: Readonly<Record<string, Partial<NodeSettings>>> = {
  'each third answer is a page with the status 503': { down: true, every: 3 },
  'each third answer is a refusal for the rate of calls': { rate_limit: 'http', every: 3 },
  'of a hundred answers, 30 are pages with the status 503': { down: true, percent: 30 },
  'of a hundred answers, 30 are refusals for what was paid, without an envelope': {
    rate_limit: 'bare',
    percent: 30,
  },
  'it takes five addresses in a filter': { address_limit: 5 },
  'it knows no final block': { finalized_depth: 1_000_000 },
  'its final block stands still': { finalized_until: 20 },
  'the newest block has no logs yet': { newest_logs_empty: true },
  'no block has logs where it is asked for by its hash': { empty_by_hash: true },
  'the same, and it has no receipts': { empty_by_hash: true, block_receipts: 'unknown_method' },
  'of each new block one log is missing': { missing_log: true },
  ...Object.fromEntries(DIALECTS.slice(1).map((dialect) => [`it has the dialect ${dialect}`, { dialect }])),
}

let simulated: ChainHere
let db: Db

beforeAll(async () => {
  simulated = await simulateChainHere({ blocks: 60, world: '-2,-2,2,2', transactions: 2 })
  db = (await open()).db
})

/** Most of the chain is history. */
const NEAR = { finalized_depth: 16 }

/** Settings of the follower. */
const ENV: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'it knows no final block': { CHAIN_FINALITY: '16' },
  'its final block stands still': { CHAIN_FINALITY: '16' },
}

test.each(Object.entries(FAULTS))('%s', async (name, fault) => {
  await simulated.reset()
  await simulated.change(NEAR)
  const land = await followLand(db, simulated, { timing: new FixedTiming(), env: ENV[name] ?? {} })
  const isOfHistory = !('missing_log' in fault)
  if (isOfHistory) await simulated.change(fault)
  await land.replaceWorld()
  await simulated.change(fault)
  await followBlocks(land)
  // By chance, so many calls in a row are refused that a step fails.
  if (!('percent' in fault))
    expect(land.lines.filter((line) => line.includes('cannot be followed'))).toEqual([])
  await land.chain.close()
})

/** What a node leaves out, beside another one on another host that leaves out nothing. */
const OMISSIONS: Readonly<Record<string, Partial<NodeSettings>>> = {
  'the logs of the newest block': { newest_logs_empty: true },
  'all logs of a block that is asked for by its hash': { empty_by_hash: true },
  'one log of each block': { missing_log: true },
}

test.each(Object.entries(OMISSIONS))(
  'one of two nodes leaves out %s, with and without receipts',
  async (_, fault) => {
    for (const block_receipts of ['served', 'unknown_method']) {
      await simulated.reset()
      for (const node of ['first', 'second']) await simulated.change(NEAR, node)
      const other = simulated.address.replace('127.0.0.1', 'localhost')
      const urls = [`${simulated.address}/nodes/first`, `${other}/nodes/second`]
      const land = await followLand(db, simulated, { urls, timing: new FixedTiming() })
      await simulated.change({ ...fault, block_receipts }, 'first')
      await simulated.change({ block_receipts }, 'second')
      await land.replaceWorld()
      await followBlocks(land)
      const lacking = land.lines.filter((line) =>
        /a new block is shown when a node of another host/.test(line),
      )
      expect(lacking).toHaveLength(block_receipts === 'served' ? 0 : 2)
      const named = land.lines.filter((line) => line.includes('has left out logs'))
      expect(named).toEqual([expect.stringMatching(/^node1 .* is asked last from now on$/)])
      expect(land.chain.confirmations.get('alone')).toBeUndefined()
      expect(land.chain.follower.counts.repaired).toBe(0)
      await land.chain.close()
    }
  },
)

test('a node alone without receipts shows a block when the next one is there, with the logs that it has then', async () => {
  await simulated.reset()
  await simulated.change(NEAR)
  await simulated.change({ block_receipts: 'unknown_method', newest_logs_empty: true })
  const land = await followLand(db, simulated, { timing: new FixedTiming() })
  await simulated.mine(1) // The world that is replaced is at the block before.
  await land.replaceWorld()

  await followBlocks(land, 1)
  const named = land.lines.filter((line) => line.includes('does not give the receipts'))
  expect(named).toEqual([
    expect.stringMatching(/^node1 .* a new block is shown when the next one is there\. /),
  ])
  expect([...land.chain.confirmations.keys()]).not.toContain('alone')
  expect(land.chain.confirmations.get('repeated')).toBeGreaterThan(0)
  await land.chain.close()
})

test('a node that goes on leaving out logs is asked once for the blocks in which they must be, and another one mends the history', async () => {
  const gaps = { ...NEAR, gap_percent: 3 }
  const options = { dataDir: emptyDir(), timing: new FixedTiming(), limits: { maxRangeBlocks: 4 } }
  await simulated.reset()
  await simulated.change(gaps)
  const land = await followLand(db, simulated, options)
  await expect(land.replaceWorld()).rejects.toThrow('left out logs')
  await simulated.reset()
  await simulated.change(gaps)
  const failure = String(await land.replaceWorld().catch((error: Error) => error))
  await land.chain.close()

  const first = Number(/The logs of blocks (\d+) to \d+ were requested once more/.exec(failure)?.[1])
  const last = (await simulated.head()).number - NEAR.finalized_depth
  const { asked_logs } = await simulated.calls()
  const asked = asked_logs.filter(({ from = 0, to = 0 }) => from >= first && to <= last)
  expect(asked.reduce((sum, { from, to }) => sum + to! - from! + 1, 0)).toBe(last - first + 1)
  await simulated.change(NEAR, 'honest')
  const mended = await followLand(db, simulated, { ...options, node: 'honest' })
  await mended.replaceWorld()
  await followBlocks(mended, 1)
  expect(mended.lines).toContainEqual(expect.stringContaining('logs are missing'))
  await mended.chain.close()
})

test('before the history is read, a line says how many calls it needs', async () => {
  await simulated.reset()
  await simulated.change(NEAR)
  const limits = { maxRangeBlocks: 8 }
  const land = await followLand(db, simulated, { timing: new FixedTiming(), limits })
  const last = (await simulated.head()).number - NEAR.finalized_depth
  const first = firstBlock(land.chain.network)
  const ranges = Math.ceil((last - first + 1) / 8)
  await land.replaceWorld()
  const { asked_logs } = await simulated.calls()
  await land.replaceWorld()

  const said = land.lines.filter((line) => line.includes('eth_getLogs'))
  expect(said).toEqual([
    expect.stringContaining(
      `the logs of blocks ${first} to ${last} need about ${3 * ranges} calls: ${ranges} eth_getLogs and ${2 * ranges} eth_getBlockByNumber, with ranges of 8 blocks`,
    ),
  ])
  const isOfHistory = ({ from = 0, to = 0 }) => from >= first && to <= last && to - from < 8
  expect(asked_logs.filter(isOfHistory)).toHaveLength(ranges)
  await land.chain.close()
})

test('events that a contract is not known to have are a line once each, and counted, in the history and later', async () => {
  await simulated.reset()
  await simulated.change(NEAR)
  const network = JSON.parse(readFileSync(simulated.env.CHAIN_NETWORK!, 'utf8'))
  // Where the contract of bids is expected, another one stands.
  const { address } = simulated.chain.contracts.foreign
  network.contracts.ERC721Bid.address = address
  const file = join(emptyDir(), 'network.json')
  writeFileSync(file, JSON.stringify(network))
  const land = await followLand(db, simulated, { timing: new FixedTiming(), env: { CHAIN_NETWORK: file } })
  const metric = followerSeries(land.chain).find(({ name }) => name === 'landpass_chain_other_logs_total')!
  const counted = async () => (await metric.read()).find(({ labels }) => labels.outcome === 'unknown')
  const lines = () => land.lines.filter((line) => line.startsWith('warning'))

  await land.replaceWorld()
  const inHistory = (await counted())!
  expect(inHistory.labels).toEqual({ outcome: 'unknown', role: 'ERC721Bid' })
  expect(lines()[0]).toContain(
    `ERC721Bid (${address}) has logs of an event that this version does not know (first topic ${TOPIC.transfer}), seen first in block `,
  )

  await land.followTo((await simulated.mine(30)).number)
  expect((await counted())!.value).toBeGreaterThan(inHistory.value)
  const kinds = land.chain.tally.entries().filter(({ outcome }) => outcome !== 'ignored')
  expect(kinds.filter(({ role }) => role !== 'ERC721Bid')).toEqual([])
  expect(lines()).toHaveLength(kinds.length)
  await land.chain.close()
})

/** Compares the tables with the contracts after each of some blocks, which so many follow when they are shown. */
async function followBlocks(land: FollowedLand, behind = 0): Promise<void> {
  for (let block = 0; block < 3; block++) {
    const { number } = await simulated.mine(block === 0 ? 1 + behind : 1)
    await land.followTo(number - behind)
    await expectContracts(number - behind)
  }
}

async function expectContracts(number: number): Promise<void> {
  const { contracts: stored } = simulated.chain
  const contracts = linesOfContracts({ contracts: stored, head: { number } })
  const tables = await linesOfTables(db, stored)
  for (const part of PARTS) expectSame(tables[part], contracts[part], part)
}
