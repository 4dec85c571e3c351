import { beforeAll, expect, test } from 'vitest'
import type { Db } from '../../src/db/engine.ts'
import { DIALECTS } from '../../src/simulate/chain/node/dialects.ts'
import type { NodeSettings } from '../../src/simulate/chain/node/settings.ts'
import { TRUTH_PARTS } from '../../src/simulate/chain/truth.ts'
import { freshEngine } from '../support/engines.ts'
import { followLand } from '../support/followed-land.ts'
import { FixedTiming } from '../support/scripted-node.ts'
import { type ChainHere, simulateChainHere } from '../support/simulated-chain.ts'
import { linesOfContracts, linesOfTables } from '../support/truth-rows.ts'

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
  ...Object.fromEntries(DIALECTS.map((dialect) => [`it has the dialect ${dialect}`, { dialect }])),
}

let simulated: ChainHere
let db: Db

beforeAll(async () => {
  simulated = await simulateChainHere({ blocks: 120, world: '-2,-2,2,2', transactions: 2 })
  db = (await open()).db
})

/** Settings of the follower. */
const ENV: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'it knows no final block': { CHAIN_FINALITY: '40' },
  'its final block stands still': { CHAIN_FINALITY: '40' },
}

test.each(Object.entries(FAULTS))('%s', async (name, fault) => {
  await simulated.reset()
  await simulated.change(fault)
  const land = await followLand(db, simulated, { timing: new FixedTiming(), env: ENV[name] ?? {} })

  await land.replaceWorld()
  for (let block = 0; block < 8; block++) {
    await land.followTo((await simulated.mine(1)).number)
    await expectContracts()
  }
  expect(land.lines.filter((line) => line.includes('cannot be followed'))).toEqual([])
  await land.chain.close()
})

async function expectContracts(): Promise<void> {
  const { chain } = simulated
  const [tables, contracts] = [await linesOfTables(db, chain.contracts), linesOfContracts(chain)]
  for (const part of PARTS) expect(tables[part], part).toEqual(contracts[part])
}
