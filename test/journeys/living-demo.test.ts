import { appendFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseWorld } from '@landpass/client/grid'
import { type Chain, openChain } from '@landpass/server/chain/chain'
import { MAINNET } from '@landpass/server/chain/networks/known-networks'
import { readConfig } from '@landpass/server/config/config'
import type { Db } from '@landpass/server/db/engine'
import { readLandHead } from '@landpass/server/land/changes/land-head'
import { linesOfContracts, linesOfTables } from '@landpass/server/test/support/chain/truth-rows'
import { emptyDir, freshEngine } from '@landpass/server/test/support/database/engines'
import { testClock } from '@landpass/server/test/support/http/land-server'
import { type ChainSimulator, startChainSimulator } from '@landpass/simulators/chain/chain-simulator'
import { writeDemoSnapshot } from '@landpass/simulators/demo/write-snapshot'
import { afterAll, beforeAll, expect, test } from 'vitest'

/**
 * The land of a simulated chain that begins with a snapshot: after each story the tables are, row by row, what its contracts
 * have stored.
 */

const WORLD = '-9,-9,9,9'
const ADDRESSES = Object.fromEntries(
  Object.entries(MAINNET.contracts).map(([role, { address }]) => [role, address]),
)
/** The functions of contracts that the deeds of players call. */
const CALLS_OF_PLAYERS = [
  ...['approve', 'create', 'execute', 'cancel', 'transferFrom', 'place', 'acceptFrom'],
  ...['createEstate', 'transferToEstate', 'removeLand', 'describe', 'setUpdateOperator', 'rent', 'claim'],
  ...['setApprovalForAll', 'accept'],
]
const open = freshEngine('postgres')
const snapshot = emptyDir()
const store = emptyDir()
const clock = testClock()

let db: Db
let simulator: ChainSimulator
let chain: Chain

const start = () =>
  startChainSimulator({
    ...{ host: '127.0.0.1', port: 0, seed: 5, chainId: 1337, world: parseWorld(WORLD)! },
    ...{ historyBlocks: 0, blockTimeS: 0, transactionsPerBlock: 3 },
    market: { snapshot, store, addresses: ADDRESSES },
  })

beforeAll(async () => {
  db = (await open()).db
  await writeDemoSnapshot(1, snapshot, undefined, { world: parseWorld(WORLD)! })
  simulator = await start()
  await simulator.loaded
  chain = await connect()
})
afterAll(async () => {
  await chain.close()
  await simulator.close()
})

async function connect(): Promise<Chain> {
  const network = join(emptyDir(), 'simulated.json')
  writeFileSync(network, JSON.stringify(simulator.network))
  const env = { CHAIN_RPC_URLS: simulator.address, CHAIN_NETWORK: network, WORLD, CHAIN_POLL_MS: '100' }
  const config = readConfig({ ...env, DATA_DIR: emptyDir() })
  const { signal } = new AbortController()
  return openChain({ config, db, clock, signal, log: () => undefined })
}

async function followToHead(): Promise<void> {
  clock.set(clock.nowMs() + 31_000)
  const { signal } = new AbortController()
  const until = simulator.chain.head.number
  expect(await chain.follow({ until, signal, endsAt: ['stopped', 'no position'] })).toBe('reached')
}

async function expectTruth(): Promise<void> {
  const tables = await linesOfTables(db, simulator.chain.contracts)
  const contracts = linesOfContracts(simulator.chain)
  for (const part of Object.keys(contracts)) expect(tables[part], part).toEqual(contracts[part])
}

test('the tables are those of the contracts at the block of the snapshot', async () => {
  await chain.readHistory({ ground: snapshot, until: undefined, replaces: false }, () => undefined)

  expect(simulator.chain.head).toBe(simulator.chain.first)
  await expectTruth()
  const parts = linesOfContracts(simulator.chain)
  for (const part of ['parcels', 'estates', 'orders', 'bids', 'mortgages'])
    expect(parts[part]!.length, part).toBeGreaterThan(2)
})

test('and after 200 blocks of the market, in which everything happens that players do', async () => {
  const { chain: simulated } = simulator
  for (let i = 0; i < 200; i++) simulated.mine(simulated.head.timeS + 3_600)
  await followToHead()

  await expectTruth()
  const numbers = Array.from({ length: 200 }, (_, i) => simulated.first.number + 1 + i)
  const sent = numbers.flatMap((number) => simulated.block(number)!.transactions)
  expect(sent.filter(({ isSuccess }) => !isSuccess)).toEqual([])
  expect(timesSent(numbers)).toEqual(
    Object.fromEntries(CALLS_OF_PLAYERS.map((call) => [call, expect.any(Number)])),
  )
  expect(linesOfContracts(simulated).rentals!.length).toBeGreaterThan(0)
  expect(await closings()).toEqual(expect.arrayContaining(['cancelled event', 'open null', 'sold event']))
})

test('and after a reorganisation of 20 blocks, in one revision', async () => {
  const before = await readLandHead(db)
  simulator.chain.reorganise({ depth: 20, length: 22, keep: 0.8 })
  await followToHead()

  expect((await readLandHead(db)).revision).toBe(before.revision + 1)
  await expectTruth()
})

test('and after the simulator was killed while it wrote a block: the chain goes on with the same blocks', async () => {
  const { head } = simulator.chain
  const old = linesOfContracts(simulator.chain)
  await simulator.close()
  await chain.close()
  const [blocks] = readdirSync(store).filter((name) => name.startsWith('blocks-'))
  appendFileSync(join(store, blocks!), '{"n":30000223,"t":17')
  simulator = await start()
  await simulator.loaded
  chain = await connect()

  expect(simulator.chain.head.hash).toBe(head.hash)
  expect(linesOfContracts(simulator.chain)).toEqual(old)
  simulator.chain.reorganise({ depth: 5, length: 6, keep: 1 })
  simulator.chain.mine()
  await followToHead()
  await expectTruth()
})

/** How often each function was called in these blocks. */
function timesSent(blocks: readonly number[]): Readonly<Record<string, number>> {
  const times: Record<string, number> = {}
  for (const { calls } of blocks.flatMap((number) => simulator.chain.requestsOf(number)))
    for (const { method } of calls) times[method] = (times[method] ?? 0) + 1
  return times
}

/** Which publications there are, by status and why they are closed. */
async function closings() {
  const rows = await db.selectFrom('publication').select(['status', 'closed_by']).execute()
  return [...new Set(rows.map(({ status, closed_by }) => `${status} ${closed_by}`))]
}
