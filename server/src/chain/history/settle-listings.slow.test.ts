import { expect, test } from 'vitest'
import { describeOnOneEngine } from '../../../test/support/database/engines.ts'
import { ESTATE_REGISTRY, LAND_REGISTRY } from '../../../test/support/land/registries.ts'
import { TINY_WORLD, tinyRecords, tinySnapshot } from '../../../test/support/land/tiny-world.ts'
import type { Db } from '../../db/engine.ts'
import { importSnapshot } from '../../land/snapshot/import.ts'
import type { StoredListing } from '../../land/snapshot/stored-listings.ts'
import type { Network } from '../chain-types.ts'
import { BlockGoneError, StateMissingError, UnansweredError } from '../check/check-errors.ts'
import { ContractState, type ReadAll } from '../check/contract-state.ts'
import { settledOf, settleListings } from './settle-listings.ts'

const [ANN, BOB] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`]
const idOf = (number: number) => `0x${number.toString(16).padStart(64, '0')}`
const nothing = { id: idOf(0), seller: idOf(0).slice(0, 42) }
const stored = (number: number) => ({ id: idOf(number), seller: ANN })

function listing(key: number, facts: Partial<StoredListing> = {}): StoredListing {
  return {
    key,
    contract_id: idOf(key),
    marketplace_address: 'market',
    owner: ANN,
    holder: ANN,
    status: 'open',
    closed_by: null,
    ...facts,
  }
}
const moved = { status: 'cancelled', closed_by: 'moved' } as const
const unknown = { status: 'cancelled', closed_by: null } as const

test('a listing that the marketplace stores stays as it is', () => {
  expect(settledOf([listing(1)], stored(1))).toEqual([])
  expect(settledOf([listing(1, { ...moved, holder: BOB })], stored(1))).toEqual([])
})

test('one that it does not store is closed: nothing is stored, or another one', () => {
  expect(settledOf([listing(1)], nothing)).toEqual([{ key: 1, status: 'cancelled', closed_by: 'event' }])
  expect(settledOf([listing(1, moved)], stored(9))).toEqual([
    { key: 1, status: 'cancelled', closed_by: 'replaced' },
  ])
  expect(settledOf([listing(1), listing(2)], stored(2))).toEqual([
    { key: 1, status: 'cancelled', closed_by: 'replaced' },
  ])
})

test('one that is stored is open while its seller holds the asset, and opens again when the asset returns', () => {
  expect(settledOf([listing(1, { holder: BOB })], stored(1))).toEqual([{ key: 1, ...moved }])
  expect(settledOf([listing(1, { ...unknown, holder: BOB })], stored(1))).toEqual([{ key: 1, ...moved }])
  expect(settledOf([listing(1, unknown), listing(2)], stored(1))).toEqual([
    { key: 1, status: 'open', closed_by: null },
    { key: 2, status: 'cancelled', closed_by: 'replaced' },
  ])
})

test('why a cancelled one is closed that is not stored stays unknown', () => {
  expect(settledOf([listing(1, unknown), listing(2, unknown)], nothing)).toEqual([])
})

const BLOCK = { number: 18_000_000, hash: idOf(0xb10c), timeS: 1_600_000_000 }
const [, , , CANCELLED, OF_ESTATE] = tinyRecords().publications
const contract = (address: string) => ({ address, startBlock: 1 })
const NETWORK: Network = {
  name: 'mainnet',
  chainId: 1,
  landApprovalForAllArgumentOrderChangesAtBlock: 0,
  contracts: {
    LANDRegistry: contract(LAND_REGISTRY),
    EstateRegistry: contract(ESTATE_REGISTRY),
    Marketplace: contract(CANCELLED!.marketplace_address),
  },
}

/** What the marketplace stores: nothing of estate 10, and of the parcel 2,0 the listing that the snapshot has as cancelled. */
const storedNow: ReadAll = async (calls) =>
  calls.map(({ data }) => {
    const isEstate = data.includes(ESTATE_REGISTRY.slice(2))
    const words = isEstate
      ? [0n, 0n, 0n, 0n, 0n]
      : [BigInt(CANCELLED!.contract_id), BigInt(CANCELLED!.owner), BigInt(LAND_REGISTRY), 1n, 1n]
    return `0x${words.map((word) => word.toString(16).padStart(64, '0')).join('')}`
  })

describeOnOneEngine('the offers of a world that is loaded', (open) => {
  /** Settles those of the tiny world. */
  async function settled(db: Db, readAll: ReadAll) {
    const records = tinyRecords()
    Object.assign(records.publications[3]!, { closed_tx_hash: idOf(0x778) })
    const clock = { nowMs: () => Date.parse('2021-01-01T00:00:00.000Z') }
    const report = await importSnapshot(db, tinySnapshot({ records }), {
      ...{ world: TINY_WORLD, clock, dryRun: false },
    })
    expect(report.errors).toEqual([])
    const lines: string[] = []
    await settleListings({
      ...{ db, worldId: report.worldId!, network: NETWORK, block: BLOCK, assetsOfPage: 1 },
      state: new ContractState(readAll),
      signal: new AbortController().signal,
      onProgress: () => undefined,
      log: (line) => lines.push(line),
    })
    const rows = await db
      .selectFrom('publication')
      .select(['key', 'status', 'closed_by', 'closed_tx_hash', 'block_time_updated_at_ms'])
      .where('world_id', '=', report.worldId!)
      .where('key', 'in', [4, 5])
      .orderBy('key')
      .execute()
    return { rows, lines }
  }
  const ofEstate = {
    ...{ key: 5, status: 'cancelled', closed_by: 'event', closed_tx_hash: null },
    block_time_updated_at_ms: BLOCK.timeS * 1_000,
  }

  test('one that opens again has no transaction that closed it', async () => {
    const { rows, lines } = await settled((await open()).db, storedNow)

    expect(OF_ESTATE).toMatchObject({ asset_id: '10', status: 'open' })
    expect(rows).toEqual([
      { key: 4, status: 'open', closed_by: null, closed_tx_hash: null, block_time_updated_at_ms: null },
      ofEstate,
    ])
    expect(lines).toEqual([expect.stringMatching(/^4 offers of the snapshot were settled: /)])
  })

  test.each([
    ['no node has the state', new StateMissingError(BLOCK, new Error('pruned')), /No node has the state/],
    [
      'a node has only its header',
      new BlockGoneError(BLOCK, new Error('not found')),
      /No node has the state/,
    ],
    [
      'a contract does not answer',
      new UnansweredError('0xc0', 'f()'),
      /The contract 0xc0 gave no answer to f/,
    ],
  ])('stay as they are from where %s, and a line says how many were settled', async (_, error, reason) => {
    const { rows, lines } = await settled((await open()).db, async (calls) => {
      if (calls.some(({ data }) => !data.includes(ESTATE_REGISTRY.slice(2)))) throw error
      return storedNow(calls)
    })

    expect(rows).toMatchObject([{ key: 4, status: 'cancelled', closed_tx_hash: idOf(0x778) }, ofEstate])
    expect(lines).toEqual([expect.stringMatching(/^1 offers .* those of 1 assets were not compared/)])
    expect(lines[0]).toMatch(reason)
  })

  test('any other failure ends the import', async () => {
    const failing = settled((await open()).db, () => Promise.reject(new Error('unreachable')))
    await expect(failing).rejects.toThrow('unreachable')
  })
})
