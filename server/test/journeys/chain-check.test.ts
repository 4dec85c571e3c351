import { afterAll, beforeAll, expect, test } from 'vitest'
import { differenceText } from '../../src/chain/check/findings.ts'
import type { Db } from '../../src/db/engine.ts'
import { freshEngine } from '../support/engines.ts'
import { type FollowedLand, followLand } from '../support/followed-land.ts'
import { type SimulatedChain, startSimulatedChain } from '../support/simulated-chain.ts'

const open = freshEngine('postgres')
let db: Db
let simulated: SimulatedChain
let land: FollowedLand

beforeAll(async () => {
  db = (await open()).db
  simulated = await startSimulatedChain({ blocks: 400, world: '-5,-5,5,5', transactions: 3 })
  land = await followLand(db, simulated)
  await land.readHistory()
  await land.followTo((await simulated.mine(40)).number)
})
afterAll(() => simulated.stop())

test('after a history with every kind of event the tables are what the contracts say', async () => {
  const result = await land.chain.check({})
  expect(result.differences.map(differenceText)).toEqual([])
})
