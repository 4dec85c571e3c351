import type { Db } from '../../db/engine.ts'
import { inSnapshot } from '../../db/transaction.ts'
import { CommandError } from '../../errors.ts'
import { isOfChain, type KnownChain, readChainPosition } from '../../land/changes/chain-position.ts'
import {
  type CheckedLand,
  type LandTotals,
  readLandOf,
  readLandTotals,
  readLandWithoutAssets,
  readWholeLand,
} from '../../land/queries/checked-land.ts'
import { readSampleKinds } from '../../land/queries/land-sample.ts'
import type { AssetName } from '../../land/records/assets.ts'
import type { BlockRef, Network } from '../chain-types.ts'
import type { Nodes } from '../rpc/nodes.ts'
import type { Timing } from '../rpc/timing.ts'
import { type CheckContext, ListLimit } from './check-context.ts'
import { BlockGoneError } from './check-errors.ts'
import { checkEstate } from './check-estate.ts'
import { checkMortgage, findMissingMortgages } from './check-mortgage.ts'
import { checkOffer } from './check-offer.ts'
import { checkParcel } from './check-parcel.ts'
import { checkRightRows, findMissingAssets } from './check-totals.ts'
import { chooseSample } from './choose-sample.ts'
import type { ContractReaderOptions } from './contract-reader.ts'
import { contractsAt } from './contracts-at.ts'
import { type Difference, Findings } from './findings.ts'
import { KnownRights } from './known-rights.ts'
import { LandIndex } from './land-index.ts'

export interface CheckOptions {
  readonly db: Db
  readonly nodes: Nodes
  readonly network: Network
  /** By which a world is known as one of the network. */
  readonly known: Omit<KnownChain, 'rulesVersion'>
  /** Requests to the nodes at a time. */
  readonly callsInFlight: number
  readonly timing: Timing
  readonly signal: AbortSignal
  /** See {@link ContractReaderOptions}. */
  readonly beforeRequest?: ContractReaderOptions['beforeRequest']
}

/** What is compared: all of the land, or a part of it. */
export interface CheckRequest {
  /** Parcels and estates that the seed chooses; undefined: all of them, and whether any is missing. */
  readonly sample?: { readonly size: number; readonly seed: number } | undefined
  /** These parcels and estates alone, or what belongs to none of them: numbers of assets, mortgages, and rights. */
  readonly part?: readonly AssetName[] | 'totals' | undefined
  /** The block at which the land must be; undefined: whichever it is at. */
  readonly block?: number | undefined
  readonly onProgress?: ((progress: CheckProgress) => void) | undefined
}

export interface CheckProgress {
  /** Parcels, estates, mortgages and signed offers. */
  readonly done: number
  readonly total: number
}

export interface CheckResult {
  /** The block of the rows, in whose state the contracts were asked. */
  readonly block: BlockRef
  /** Parcels and estates that were compared. */
  readonly assets: number
  /** Calls of functions of contracts; several of them make one request. */
  readonly calls: number
  readonly differences: readonly Difference[]
  /** How often a field could not be compared, by field. */
  readonly notCompared: Readonly<Record<string, number>>
}

/** How often the check begins again after the block of the rows was removed by a reorganisation. */
const MOST_ATTEMPTS = 5
/** Until then a process that follows has taken the other branch. */
const PAUSE_MS = 4_000
/** Parcels and estates that are compared at the same time. */
const ASSETS_OF_GROUP = 500

interface Rows {
  readonly block: BlockRef
  readonly land: CheckedLand
  /** Undefined where only some assets are compared. */
  readonly totals: LandTotals | undefined
}

/**
 * Compares the tables with what the contracts say at the block of the tables. Rows and position are read in one
 * transaction, which ends before the nodes are asked.
 *
 * @throws {CommandError} where the land does not come from the chain or is at another block, and where no node has the block
 *   or the state of the contracts at it
 * @throws {NodeError | NoNodeError} where nodes do not answer
 */
export async function checkLand(options: CheckOptions, request: CheckRequest): Promise<CheckResult> {
  for (let attempt = 1; ; attempt++) {
    const rows = await readRows(options, request)
    try {
      return await compare(options, request, rows)
    } catch (error) {
      if (!(error instanceof BlockGoneError) || attempt === MOST_ATTEMPTS) throw error
      await options.timing.pause(PAUSE_MS, options.signal)
    }
  }
}

function readRows({ db, network, known }: CheckOptions, request: CheckRequest): Promise<Rows> {
  const { sample, part, block } = request
  return inSnapshot(db, async (tx) => {
    const position = await readChainPosition(tx)
    if (!position)
      throw new CommandError(
        'The land does not come from the chain, so there is nothing to compare it with: landpass follow.',
      )
    if (!isOfChain(position, known))
      throw new CommandError(
        `The land comes from other contracts than those of the network ${network.name} (chain ${network.chainId}). Set CHAIN_NETWORK as for landpass follow.`,
      )
    const at = position.blocks.at(-1)!
    if (block !== undefined && at.number !== block)
      throw new CommandError(
        `The land is at block ${at.number}, not at ${block}. ${at.number < block ? `landpass follow --until ${block} brings it there.` : 'It does not go back: leave --block out.'}`,
      )
    const { worldId } = position
    const assets = sample
      ? chooseSample(await readSampleKinds(tx, worldId, sample), sample.size)
      : part === 'totals'
        ? undefined
        : part
    const readRest = part === 'totals' ? readLandWithoutAssets : readWholeLand
    return {
      block: { number: at.number, hash: at.hash },
      land: assets ? await readLandOf(tx, worldId, assets) : await readRest(tx, worldId),
      totals: assets ? undefined : await readLandTotals(tx, worldId),
    }
  })
}

async function compare(
  { nodes, network, callsInFlight, timing, signal, beforeRequest }: CheckOptions,
  { onProgress }: CheckRequest,
  { block, land, totals }: Rows,
): Promise<CheckResult> {
  const state = contractsAt(block, { nodes, callsInFlight, timing, signal, beforeRequest })
  const rows = new LandIndex(land)
  const rights = new KnownRights({ network, state, rows })
  const findings = new Findings()
  const ofGroup = (): CheckContext => ({ network, state, rows, rights, findings, lists: new ListLimit() })
  const tasks = [
    ...land.parcels.map((row) => (context: CheckContext) => checkParcel(context, row)),
    ...land.estates.map((row) => (context: CheckContext) => checkEstate(context, row)),
    ...land.mortgages.map((row) => (context: CheckContext) => checkMortgage(context, row)),
    ...land.offers.map((row) => (context: CheckContext) => checkOffer(context, row)),
  ]
  for (let done = 0; done < tasks.length; done += ASSETS_OF_GROUP) {
    onProgress?.({ done, total: tasks.length })
    const context = ofGroup()
    await Promise.all(tasks.slice(done, done + ASSETS_OF_GROUP).map((task) => task(context)))
  }
  const context = ofGroup()
  await checkRightRows(context)
  if (totals) {
    await findMissingAssets(context, totals)
    await findMissingMortgages(context, land.mortgages)
  }
  onProgress?.({ done: tasks.length, total: tasks.length })
  return {
    block,
    assets: land.parcels.length + land.estates.length,
    calls: state.calls,
    differences: findings.differences,
    notCompared: Object.fromEntries([...findings.notCompared].sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}
