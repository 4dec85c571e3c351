import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Network } from '@landpass/server/chain/chain-types'
import { firstBlock } from '@landpass/server/chain/logs/log-filter'
import { contractsHash } from '@landpass/server/chain/networks/contracts-hash'
import { EthereumNode } from '@landpass/server/chain/rpc/node'
import { readChainPosition } from '@landpass/server/land/changes/chain-position'
import {
  cleanRuns,
  expectSameRows,
  type FollowOptions,
  followLand,
  rowsOf,
} from '@landpass/server/test/support/chain/followed-land'
import { type SimulatedChain, simulateChainHere } from '@landpass/server/test/support/chain/simulated-chain'
import {
  describeOnOneEngine,
  emptyDir,
  freshDatabaseUrl,
  freshEngine,
} from '@landpass/server/test/support/database/engines'
import { killHard } from '@landpass/server/test/support/processes/children'
import { jsonLines, startLandpass } from '@landpass/server/test/support/processes/landpass'
import { beforeAll, expect, test, vi } from 'vitest'

/** Contracts are added to a network that is followed already: only their history is read, and the land is as if they had always been there. */

const SOON = { interval: 100 }
const cleanRows = cleanRuns()
let simulated: SimulatedChain
/** All contracts, and the network before two of them were added. */
let network: Network
let before: Network
/** The addresses of the two. */
let added: readonly string[]
let beforeFile: string

beforeAll(async () => {
  simulated = await simulateChainHere({ seed: 4, blocks: 90, world: '-2,-2,2,2', transactions: 2 })
  const content = JSON.parse(await readFile(simulated.env.CHAIN_NETWORK!, 'utf8'))
  network = { name: 'simulated', ...content }
  const { Marketplace, OffChainMarketplaceV2, ...contracts } = network.contracts
  before = { ...network, contracts }
  added = [Marketplace!.address, OffChainMarketplaceV2!.address]
  beforeFile = join(emptyDir(), 'before.json')
  await writeFile(beforeFile, JSON.stringify({ ...content, contracts }))
})

describeOnOneEngine('contracts that are added', (open) => {
  test('have only their own history read, also after reorganisations, and the old world is followed until then', async () => {
    const { db } = await open()
    const options: FollowOptions = { dataDir: emptyDir(), limits: { maxRangeBlocks: 10 } }
    await simulated.reset()
    await simulated.change({ finalized_depth: 30 })
    const old = await followLand(db, simulated, {
      ...options,
      env: { CHAIN_NETWORK: beforeFile },
    })
    await old.readHistory()
    await old.followTo((await simulated.head()).number)
    const stored = (await readChainPosition(db))!.finalized.number
    await old.chain.close()

    await simulated.mine(4)
    const { number } = await simulated.reorganise(12)
    const land = await followLand(db, simulated, options)
    expect(await land.chain.hasPosition()).toBe(true)
    await land.followTo(number)
    expect(await land.chain.whyOutdated()).toBe('contracts')
    expect((await readChainPosition(db))!.contractsHash).toBe(contractsHash(before))

    const asked = vi.spyOn(EthereumNode.prototype, 'logsOfRange')
    const progress: string[] = []
    await land.chain.rebuild(undefined, (_step, sentence) => progress.push(sentence))
    const ofHistory = asked.mock.calls.filter(([{ toBlock }]) => toBlock <= stored)
    asked.mockRestore()
    const ofAdded = ofHistory.filter(([{ toBlock, fromBlock }]) => toBlock > fromBlock)
    expect(new Set(ofAdded.map(([, addresses]) => addresses.join()))).toEqual(new Set([added.join()]))
    expect(ofAdded.reduce((sum, [{ fromBlock, toBlock }]) => sum + toBlock - fromBlock + 1, 0)).toBe(
      stored - Math.min(...added.map((address) => startOf(address))) + 1,
    )
    // One block shows that a node has old logs.
    expect(ofHistory.length - ofAdded.length).toBe(1)
    expect(progress[0]).toMatch(/^history: block \d+ of /)
    expect(await land.chain.whyOutdated()).toBeUndefined()
    expectSameRows(await rowsOf(db), await cleanRows(simulated))

    await land.followTo((await simulated.reorganise(20)).number)
    expectSameRows(await rowsOf(db), await cleanRows(simulated))
    expect(await readdir(join(options.dataDir!, 'chain'))).toHaveLength(3)
    await land.chain.close()
  })
})

function startOf(address: string): number {
  return Object.values(network.contracts).find((contract) => contract.address === address)!.startBlock
}

const openEngine = freshEngine('postgres')

test('a process that is killed while it reads them asks for nothing twice, and one that follows makes the world again by itself', async () => {
  const databaseUrl = await freshDatabaseUrl()
  const { db } = await openEngine({ databaseUrl })
  const dataDir = emptyDir()
  await simulated.reset()
  await simulated.change({ finalized_depth: 30 })
  const old = await followLand(db, simulated, { dataDir, env: { CHAIN_NETWORK: beforeFile } })
  await old.readHistory()
  await old.followTo((await simulated.head()).number)
  await old.chain.close()
  const rows = await rowsOf(db)

  // Four ranges of five blocks in a second.
  await simulated.change({ range_limit: 5, delay_ms: 1_000, methods: ['eth_getLogs'] })
  const env = { ...simulated.env, DATABASE_URL: databaseUrl, DATA_DIR: dataDir }
  const killed = startLandpass(['follow', '--rebuild'], env)
  const stored = () =>
    Number(jsonLines(killed.stdout()).findLast(({ phase }) => phase === 'history')?.block ?? 0)
  await expect.poll(stored, SOON).toBeGreaterThan(firstBlock(network) + 10)
  await killHard(killed.child)
  const last = stored()
  expectSameRows(await rowsOf(db), rows)

  await simulated.reset()
  await simulated.change({ finalized_depth: 30 })
  const following = startLandpass(['follow'], env)
  await expect
    .poll(async () => (await readChainPosition(db))!.contractsHash, SOON)
    .toBe(contractsHash(network))
  const { asked_logs } = await simulated.calls()
  const isRange = ({ from, to }: { from?: number; to?: number }) => from !== undefined && from !== to
  expect(Math.min(...asked_logs.filter(isRange).map(({ from }) => from!))).toBeGreaterThan(last)
  const { number } = await simulated.mine(2)
  await expect.poll(async () => (await readChainPosition(db))!.newest.number, SOON).toBe(number)
  following.child.kill('SIGTERM')
  await following.ended
  expect(following.stderr()).toContain('their logs alone are requested')
  const clean = await cleanRows(simulated)
  expectSameRows(await rowsOf(db), clean)
  expect(clean.publication.length).toBeGreaterThan(rows.publication.length)
})
