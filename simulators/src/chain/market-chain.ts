import { setTimeout as sleep } from 'node:timers/promises'
import { parseWorld } from '@landpass/client/grid'
import { type ChainStart, SimulatedChain } from './blocks/chain.ts'
import type { ContractAddresses } from './contracts/contracts.ts'
import type { Address } from './encoding/words.ts'
import type { OpenedChain } from './running-chain.ts'
import { firstBlockOf, type Manifest, nameFirstBlock, readManifest } from './snapshot/first-block.ts'
import { loadContracts } from './snapshot/load-contracts.ts'
import { ChainStore, readStore, removeChain, replayStore, type StoredChain } from './store/chain-store.ts'
import { StoreError } from './store/store-error.ts'

/** A chain that begins with a snapshot keeps this many of the newest blocks at least, and twice as many at most. */
const KEPT_BLOCKS = 2_500
const LOOK_EVERY_MS = 100
/** Only a chain with a history sells new land. */
const NO_WORLD = parseWorld('0,0,0,0')!

export interface MarketChainOptions {
  readonly chainId: number
  readonly seed: number
  readonly transactionsPerBlock: number
  /** Folder of the snapshot with which the chain begins: where its manifest is not there yet, it is waited for. */
  readonly snapshot: string | undefined
  /** Folder in which the chain is kept: one that is there is continued. Undefined: it is in memory only. */
  readonly store: string | undefined
  /** The addresses that the snapshot names. */
  readonly addresses: ContractAddresses
  /** {@link KEPT_BLOCKS} by default. */
  readonly keptBlocks?: number
  readonly signal: AbortSignal
}

/**
 * Continues the chain in the store, or begins one with a snapshot. Of the latter there is only the first block at first; the contracts
 * are filled while a node answers already.
 *
 * @throws {StoreError} where the store cannot be used, {SnapshotError} where the snapshot cannot
 */
export async function openMarketChain(options: MarketChainOptions): Promise<OpenedChain> {
  const { store } = options
  const stored = store === undefined ? undefined : await readStore(store)
  if (stored && store !== undefined) return continueChain(options, stored, store)
  const { snapshot } = options
  if (snapshot === undefined)
    throw new StoreError('There is no chain to continue, and no snapshot to begin with.')
  return beginChain(options, snapshot, await untilManifest(snapshot, options.signal))
}

function continueChain(options: MarketChainOptions, stored: StoredChain, folder: string): OpenedChain {
  const { chainId, first, block, forks, districtOwners, countsAtStart } = stored.state
  if (chainId !== options.chainId) throw new StoreError(`The store in ${folder} is of chain ${chainId}.`)
  const from = { block, forks }
  const chain = newChain(options, {
    block: first,
    from,
    countsAtStart,
    districtOwners: new Set(districtOwners),
  })
  replayStore(stored, chain)
  const store = new ChainStore(folder, { chain, districtOwners, base: block.number })
  chain.watcher = store
  return { chain, loaded: Promise.resolve(), close: () => store.close() }
}

async function beginChain(
  options: MarketChainOptions,
  snapshot: string,
  manifest: Manifest,
): Promise<OpenedChain> {
  const block = firstBlockOf(manifest, options.chainId)
  await nameFirstBlock(snapshot, manifest, block, options.chainId)
  const districtOwners = new Set<Address>()
  const chain = newChain(options, { block, districtOwners })
  chain.hasState = false
  let store: ChainStore | undefined
  const load = async () => {
    const facts = await loadContracts(snapshot, chain.contracts, options.signal)
    for (const owner of facts.districtOwners) districtOwners.add(owner)
    chain.hasState = true
    if (options.store === undefined) return
    removeChain(options.store)
    store = new ChainStore(options.store, { chain, districtOwners: [...districtOwners], base: undefined })
    chain.watcher = store
  }
  return { chain, loaded: load(), close: () => store?.close() }
}

function newChain(
  { chainId, seed, transactionsPerBlock, addresses, keptBlocks = KEPT_BLOCKS }: MarketChainOptions,
  start: Omit<ChainStart, 'addresses' | 'keptBlocks'>,
): SimulatedChain {
  const options = { chainId, seed, world: NO_WORLD, historyBlocks: 0, headTimeS: 0, transactionsPerBlock }
  return new SimulatedChain(options, { ...start, addresses, keptBlocks })
}

async function untilManifest(folder: string, signal: AbortSignal): Promise<Manifest> {
  for (;;) {
    const manifest = await readManifest(folder)
    if (manifest) return manifest
    await sleep(LOOK_EVERY_MS, undefined, { signal })
  }
}
