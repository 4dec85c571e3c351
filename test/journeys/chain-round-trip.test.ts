import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseWorld } from '@landpass/client/grid'
import { parseNetwork } from '@landpass/server/chain/networks/parse-network'
import { registriesOf } from '@landpass/server/chain/networks/registries-of'
import type { Db } from '@landpass/server/db/engine'
import type { LandRightTable } from '@landpass/server/db/schema'
import { EVENT_TABLES } from '@landpass/server/land/changes/event-tables'
import type { EventTable } from '@landpass/server/land/events/land-rows'
import { exportSnapshot } from '@landpass/server/land/snapshot/export'
import { importSnapshot } from '@landpass/server/land/snapshot/import'
import { type FollowedLand, followLand, rowsOf } from '@landpass/server/test/support/chain/followed-land'
import { emptyDir, freshEngine } from '@landpass/server/test/support/database/engines'
import { testClock } from '@landpass/server/test/support/http/land-server'
import {
  ANN,
  address,
  BOB,
  CLEO,
  TINY_WORLD,
  type TinySnapshotOptions,
  tinyRecords,
  tinySnapshot,
} from '@landpass/server/test/support/land/tiny-world'
import { type ChainSimulator, startChainSimulator } from '@landpass/simulators/chain/chain-simulator'
import { afterAll, beforeAll, expect, test } from 'vitest'

/**
 * A world that came from a chain leaves by export, and comes back by import or by joining, row by row. The chain has land outside
 * of the setting WORLD, as the real one has.
 */

const WORLD = '-2,-2,2,2'
const openSource = freshEngine('postgres')
const openCopy = freshEngine('postgres')
let simulator: ChainSimulator
let chain: { readonly address: string; readonly env: Record<string, string> }
let source: Db
let copy: Db
let land: FollowedLand | undefined

beforeAll(async () => {
  simulator = await startChainSimulator({
    ...{ host: '127.0.0.1', port: 0, seed: 4, world: parseWorld('-4,-4,4,4')!, chainId: 1337 },
    ...{ historyBlocks: 400, blockTimeS: 0, transactionsPerBlock: 3 },
  })
  const network = join(emptyDir(), 'simulated.json')
  writeFileSync(network, JSON.stringify(simulator.network))
  const { address } = simulator
  chain = { address, env: { CHAIN_RPC_URLS: address, CHAIN_NETWORK: network, WORLD, CHAIN_POLL_MS: '100' } }
  source = (await openSource()).db
  copy = (await openCopy()).db
  land = await followLand(source, chain)
  await land.readHistory()
})
afterAll(async () => {
  await land?.chain.close()
  await simulator.close()
})

async function exported(db: Db): Promise<string> {
  const folder = join(mkdtempSync(join(tmpdir(), 'landpass-round-trip-')), 'world')
  await exportSnapshot(db, folder, { inOneTransaction: true })
  return folder
}

async function expectSameRows(): Promise<void> {
  const [expected, found] = [await rowsInOrder(source), await rowsInOrder(copy)]
  for (const table of EVENT_TABLES) {
    const [inSource, inCopy] = [new Set(expected[table]), new Set(found[table])]
    expect(
      {
        missing: expected[table].filter((row) => !inCopy.has(row)).slice(0, 2),
        added: found[table].filter((row) => !inSource.has(row)).slice(0, 2),
      },
      table,
    ).toEqual({ missing: [], added: [] })
    expect(found[table], table).toHaveLength(expected[table].length)
  }
}

/**
 * All rows, with the places of parcels in their estates counted from 0. A parcel that leaves its estate leaves a gap, and a
 * snapshot has only the order.
 */
async function rowsInOrder(db: Db): Promise<Record<EventTable, readonly string[]>> {
  const rows = await rowsOf(db)
  const parcels = rows.parcel.map(
    (row) => JSON.parse(row) as { estate_id: string | null; estate_position: number | null },
  )
  parcels.sort((one, other) => (one.estate_position ?? 0) - (other.estate_position ?? 0))
  const sizes = new Map<string, number>()
  for (const parcel of parcels) {
    if (parcel.estate_id === null) continue
    const place = sizes.get(parcel.estate_id) ?? 0
    sizes.set(parcel.estate_id, place + 1)
    parcel.estate_position = place
  }
  return { ...rows, parcel: parcels.map((parcel) => JSON.stringify(parcel)) }
}

async function mine(blocks: number): Promise<number> {
  const body = JSON.stringify({ blocks })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${simulator.address}/simulator/mine`, { method: 'POST', headers, body })
  return ((await answer.json()) as { number: number }).number
}

test('the chain has all kinds of rows, and some of them outside of WORLD', async () => {
  const rows = await rowsOf(source)

  for (const table of EVENT_TABLES) expect(rows[table].length, table).toBeGreaterThan(0)
  const outside = rows.parcel
    .map((row) => JSON.parse(row) as { x: number; y: number; estate_id: string | null })
    .filter(({ x, y }) => Math.max(Math.abs(x), Math.abs(y)) > 2)
  expect(outside.some(({ estate_id }) => estate_id !== null)).toBe(true)
})

test('an import brings all rows back, and a second export has the same files', async () => {
  const parsed = parseNetwork('simulated', simulator.network)
  if ('mistakes' in parsed) throw new Error(parsed.mistakes[0])
  const registries = registriesOf(parsed.network)
  const first = await exported(source)
  const options = { world: parseWorld(WORLD)!, registries, clock: testClock(), dryRun: false }

  const report = await importSnapshot(copy, first, options)

  expect(report.errors).toEqual([])
  await expectSameRows()
  const second = await exported(copy)
  const dataFiles = readdirSync(first).filter((name) => name !== 'manifest.json')
  for (const name of dataFiles)
    expect(readFileSync(join(second, name)).equals(readFileSync(join(first, name))), name).toBe(true)
  const manifest = (folder: string) => JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
  const { chain: block, ...rest } = manifest(first)
  expect(block).toMatchObject({ chain_id: 1337 })
  expect(manifest(second)).toEqual({ ...rest, from_chain: true })
  expect((await importSnapshot(copy, second, options)).errors).toEqual([])
})

test('a copy that joins at the block of the export has the same rows, and has them after later blocks', async () => {
  const joined = await followLand(copy, chain)
  await joined.readHistory(await exported(source))
  await expectSameRows()

  const head = await mine(80)
  await land!.followTo(head)
  await joined.followTo(head)
  await joined.chain.close()

  await expectSameRows()
})

test('a snapshot without a file of rights has them at the land that owners hold themselves', async () => {
  const records = tinyRecords()
  const inEstate = records.parcels.find(({ id }) => id === '1,0')!
  const rented = records.parcels.find(({ id }) => id === '2,0')!
  const own = records.parcels.find(({ id }) => id === '2,-1')!
  const [estate] = records.estates
  Object.assign(inEstate, { approvals_for_all: [address('1')] })
  Object.assign(rented, { holder: CLEO, approvals_for_all: [address('2')] })
  Object.assign(own, { update_managers: [address('3')] })
  Object.assign(estate!, { approvals_for_all: [address('1')] })
  const imported = async (chainRecords?: TinySnapshotOptions['chainRecords']) => {
    const folder = tinySnapshot({ records, ...(chainRecords && { chainRecords }) })
    const options = { world: TINY_WORLD, clock: testClock(), dryRun: false, forFollowing: true }
    expect((await importSnapshot(copy, folder, options)).errors).toEqual([])
    const rows = (await rowsOf(copy)).land_right.map((row) => JSON.parse(row) as LandRightTable)
    return rows.map(({ kind, registry, owner, operator }) => [kind, registry, owner, operator])
  }

  expect(await imported()).toEqual([
    ['approval', 'estate', ANN, address('1')],
    ['approval', 'parcel', CLEO, address('2')],
    ['manager', 'parcel', BOB, address('3')],
  ])
  expect(await imported({ rights: [] })).toEqual([])
})
