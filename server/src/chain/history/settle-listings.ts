import { SECOND_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import type { AssetName } from '../../land/records/assets.ts'
import {
  countListedAssets,
  type ListedAsset,
  readListedAssets,
  type SettledListing,
  type StoredListing,
  writeSettledListings,
} from '../../land/snapshot/stored-listings.ts'
import type { BlockHeader, Network } from '../chain-types.ts'
import { tokenOf } from '../check/check-context.ts'
import { BlockGoneError, StateMissingError, UnansweredError } from '../check/check-errors.ts'
import type { ContractState } from '../check/contract-state.ts'
import { type Order, readStoredOrders } from '../check/stored-orders.ts'

const ASSETS_OF_PAGE = 2_000

export interface SettleOptions {
  readonly db: Db
  /** A world that is loaded and not shown. */
  readonly worldId: number
  readonly network: Network
  /** The block of the snapshot. */
  readonly block: Pick<BlockHeader, 'number' | 'timeS'>
  /** The contracts in the state after that block. */
  readonly state: ContractState
  readonly signal: AbortSignal
  readonly onProgress: (done: number, total: number) => void
  /** Writes a line for operators. */
  readonly log: (line: string) => void
  /** Assets of which the rows are in memory at a time, and whose calls are sent together. */
  readonly assetsOfPage?: number
}

/**
 * Compares the listings of a snapshot with what the marketplaces store for their assets at its block, and settles those that
 * differ: see {@link settledOf}. Where no node has the state of so old a block, or a contract does not answer, the rest of them
 * stay as the snapshot has them.
 *
 * @throws {NodeError | NoNodeError} where nodes do not answer
 */
export async function settleListings(options: SettleOptions): Promise<void> {
  const { db, worldId, block, signal, onProgress, log, assetsOfPage = ASSETS_OF_PAGE } = options
  const total = await countListedAssets(db, worldId)
  let [done, settledCount] = [0, 0]
  let after: AssetName | undefined
  try {
    for (;;) {
      onProgress(done, total)
      signal.throwIfAborted()
      const page = await readListedAssets(db, worldId, { after, limit: assetsOfPage })
      if (page.length === 0) break
      const settled = (await Promise.all(page.map((asset) => settledOfAsset(options, asset)))).flat()
      await writeSettledListings(db, worldId, { settled, closedAtMs: block.timeS * SECOND_MS })
      settledCount += settled.length
      done += page.length
      after = page.at(-1)
    }
  } catch (error) {
    const reason = passableReason(error, block)
    if (reason === undefined) throw error
    log(
      `${settledCount} offers of the snapshot were settled; those of ${total - done} assets were not compared with the marketplaces, and stay as the snapshot has them. ${reason} landpass chain check compares them.`,
    )
    return
  }
  if (settledCount > 0)
    log(
      `${settledCount} offers of the snapshot were settled: the marketplaces had others, or none, at block ${block.number}`,
    )
}

/**
 * Why listings cannot be compared, where the land can be followed without that; else undefined. A node that has the header
 * of the block, which was compared just before, and not its state may answer that the block is not found.
 */
function passableReason(error: unknown, { number }: Pick<BlockHeader, 'number'>): string | undefined {
  if (error instanceof StateMissingError || error instanceof BlockGoneError)
    return `No node has the state of the contracts at block ${number}.`
  return error instanceof UnansweredError ? error.message : undefined
}

async function settledOfAsset(
  { network, state }: SettleOptions,
  asset: ListedAsset,
): Promise<SettledListing[]> {
  const token = tokenOf(network, asset)
  if (!token) return []
  const listingsOf = (marketplace: string) =>
    asset.listings.filter(({ marketplace_address }) => marketplace_address === marketplace)
  const isAsked = (marketplace: string) => listingsOf(marketplace).length > 0
  const orders = await readStoredOrders(token, { network, state, isAsked })
  return orders.flatMap(({ marketplace, order }) => (order ? settledOf(listingsOf(marketplace), order) : []))
}

/**
 * What the listings of an asset in one marketplace become, where they differ from what the marketplace stores.
 *
 * - The one with the id that is stored is open while its seller holds the asset, else `moved`: it opens again when the asset
 *   returns.
 * - Any other that is open, or was to open again, is closed: by an event where nothing is stored, `replaced` where another
 *   one is.
 * - Why one is cancelled that is not stored stays unknown where the snapshot does not say it.
 */
export function settledOf(
  listings: readonly StoredListing[],
  order: Pick<Order, 'id'>,
): readonly SettledListing[] {
  const isThere = BigInt(order.id) !== 0n
  const stored = isThere ? listings.findLast(({ contract_id }) => contract_id === order.id) : undefined
  return listings.flatMap((listing) => {
    const now = listing === stored ? storedAs(listing) : closedAs(listing, isThere)
    if (now.status === listing.status && now.closed_by === listing.closed_by) return []
    return [{ key: listing.key, ...now }]
  })
}

type Standing = Pick<StoredListing, 'status' | 'closed_by'>

function storedAs({ owner, holder }: StoredListing): Standing {
  return owner === holder ? { status: 'open', closed_by: null } : { status: 'cancelled', closed_by: 'moved' }
}

function closedAs({ status, closed_by }: StoredListing, isReplaced: boolean): Standing {
  if (status === 'cancelled' && closed_by === null) return { status, closed_by }
  return { status: 'cancelled', closed_by: isReplaced ? 'replaced' : 'event' }
}
