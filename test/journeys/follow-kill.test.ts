import { RULES_VERSION } from '@landpass/server/chain/follow/rules-version'
import type { Db } from '@landpass/server/db/engine'
import { openEngine } from '@landpass/server/db/open-engine'
import { readChainPosition } from '@landpass/server/land/changes/chain-position'
import {
  cleanRuns,
  expectSameRows,
  followLand,
  makeOld,
  rowsOf,
} from '@landpass/server/test/support/chain/followed-land'
import { type SimulatedChain, simulateChainHere } from '@landpass/server/test/support/chain/simulated-chain'
import { emptyDir, freshDatabaseUrl, TEST_SETTINGS } from '@landpass/server/test/support/database/engines'
import { killHard } from '@landpass/server/test/support/processes/children'
import { type Env, jsonLines, startLandpass } from '@landpass/server/test/support/processes/landpass'
import { beforeAll, expect, test } from 'vitest'

/** Processes that follow a chain and are killed. Others continue, to the rows of a clean run over the final chain. */

const cleanRows = cleanRuns()
/** Each poll costs CPU time. */
const SOON = { interval: 200 }
let simulated: SimulatedChain

beforeAll(async () => {
  simulated = await simulateChainHere({ blocks: 100, world: '-2,-2,2,2' })
})

async function resetNode(): Promise<void> {
  await simulated.reset()
  await simulated.change({ finalized_depth: 40 })
}

/** A process is killed when it has stored some ranges of the history. @returns the last block that is stored for certain */
async function killInTheHistory(env: Env): Promise<number> {
  await resetNode()
  // Four ranges of five blocks in a second.
  await simulated.change({ range_limit: 5, delay_ms: 1_000, methods: ['eth_getLogs'] })
  const { child, stdout } = startLandpass(['follow'], env)
  const stored = () => Number(jsonLines(stdout()).at(-1)?.block ?? 0)
  await expect.poll(stored, SOON).toBeGreaterThanOrEqual(10)
  await killHard(child)
  return stored()
}

/** A process is killed when it begins to write the world that the history makes. */
async function killInTheSwitch(env: Env): Promise<void> {
  await resetNode()
  const { child, said } = startLandpass(['follow'], env)
  await said('"phase":"write"')
  await killHard(child)
}

/** A process follows to the head and is killed in the middle of the path to another branch. */
async function killWhileItUndoes(depth: number, env: Env): Promise<void> {
  await resetNode()
  const { child } = startLandpass(['follow'], env)
  const { hash } = await simulated.head()
  const asked = () => simulated.calls()
  const isAskedForHead = async () => (await asked()).asked_logs.some(({ blockHash }) => blockHash === hash)
  await expect.poll(isAskedForHead, SOON).toBe(true)
  // Steps follow each other: with the next polls, the transaction of the head is over.
  const polls = async () => (await asked()).calls.eth_getBlockByNumber ?? 0
  const before = await polls()
  await expect.poll(polls, SOON).toBeGreaterThan(before + 4)
  const headers = async () => (await asked()).calls.eth_getBlockByHash ?? 0
  const headersBefore = await headers()
  await simulated.change({ delay_ms: 50, methods: ['eth_getBlockByHash'] })
  await simulated.reorganise(depth)
  await expect.poll(headers, { ...SOON, interval: 50 }).toBeGreaterThan(headersBefore + depth / 3)
  await killHard(child)
}

/** A process that continues to the head comes to the rows of a clean run. */
async function expectToContinue(db: Db): Promise<void> {
  await resetNode()
  await (await followLand(db, simulated)).followTo((await simulated.head()).number)
  expectSameRows(await rowsOf(db), await cleanRows(simulated))
}

test('killed in the history, in the switch and in an undo, the next process continues, also with newer rules', async () => {
  const databaseUrl = await freshDatabaseUrl()
  const env = { ...simulated.env, DATABASE_URL: databaseUrl, DATA_DIR: emptyDir() }
  const stored = await killInTheHistory(env)
  await killInTheSwitch(env)
  const { asked_logs: asked } = await simulated.calls()
  const again = asked.flatMap(({ from }) => (from !== undefined && from <= stored ? [from] : []))
  // Once from block 1 on: that shows whether the node has old blocks.
  expect(again).toEqual([1])
  await killWhileItUndoes(30, env)

  const engine = await openEngine({ ...TEST_SETTINGS, mode: 'join', databaseUrl })
  try {
    await expectToContinue(engine.db)
    await makeOld(engine.db)
    const { child, stderr, ended } = startLandpass(['follow'], env)
    await expect.poll(stderr, SOON).toContain('the world was made again, by the newest rules')
    child.kill('SIGTERM')
    await ended
    expect((await readChainPosition(engine.db))!.rulesVersion).toBe(RULES_VERSION)
    expectSameRows(await rowsOf(engine.db), await cleanRows(simulated))
  } finally {
    await engine.close()
  }
})
