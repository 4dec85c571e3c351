import { encodeTokenId, parseCoord } from '@landpass/client/grid'
import type { AssetName } from '../../land/records/assets.ts'
import type { BlockHeader, BlockRef, Network, RawLog } from '../chain-types.ts'
import { assetDigest } from '../check/asset-digest.ts'
import { findChanges } from '../check/change-blocks.ts'
import { tokenOf } from '../check/check-context.ts'
import { StateMissingError } from '../check/check-errors.ts'
import type { ContractState } from '../check/contract-state.ts'
import type { TimedLog } from '../packed-logs.ts'
import type { SpoolPlace } from './log-fetcher.ts'
import { Spool } from './spool.ts'

export interface MendOptions extends SpoolPlace {
  /** Whose rows are not what the contracts say. */
  readonly assets: readonly AssetName[]
  readonly network: Network
  readonly contractsAt: (block: BlockRef) => ContractState
  readonly headerByNumber: (number: number) => Promise<BlockHeader>
  /** All logs of our contracts in a block that is asked for by its hash. */
  readonly logsOfBlock: (block: BlockHeader) => Promise<readonly RawLog[]>
  /** Writes a line for operators. */
  readonly log: (line: string) => void
}

/** The newest blocks of an asset that are read again. */
const MOST_BLOCKS_OF_ASSET = 200

/**
 * Looks for logs that a node has left out of the answers for ranges: all blocks with a stored log of these assets are read again by
 * their hash, and so are blocks between them in which what the contracts say of an asset changed. What is found is stored.
 *
 * @returns the blocks of which logs were missing
 */
export async function mendLogs(options: MendOptions): Promise<readonly number[]> {
  const { folder, name, firstBlock, assets, log } = options
  const spool = await Spool.open(folder, { name, firstBlock })
  try {
    const last = spool.nextBlock - 1
    const known = await knownBlocks(spool, assets)
    const blocks = new Set<number>()
    let hasState = true
    for (const [at, asset] of assets.entries()) {
      const ofAsset = known[at]!
      for (const block of ofAsset) blocks.add(block)
      if (!hasState) continue
      try {
        for (const block of await hiddenBlocks(options, asset, [firstBlock, ...ofAsset, last + 1]))
          blocks.add(block)
      } catch (error) {
        if (!(error instanceof StateMissingError)) throw error
        hasState = false
        log(
          `blocks with missing logs can only be found among those with a stored log of the same asset: ${error.message}`,
        )
      }
    }
    const logsOf = new Map<number, readonly TimedLog[]>()
    for (const number of [...blocks].sort((a, b) => a - b)) {
      if (number > last) continue
      const header = await options.headerByNumber(number)
      const logs = await options.logsOfBlock(header)
      logsOf.set(
        number,
        logs.map((read) => ({ ...read, blockTimeS: header.timeS })),
      )
    }
    return await spool.addMissing(logsOf)
  } finally {
    await spool.close()
  }
}

/** For each asset the newest blocks that have a stored log with its number. */
async function knownBlocks(
  spool: Spool,
  assets: readonly AssetName[],
): Promise<readonly (readonly number[])[]> {
  const blocks = new Map(assets.map((asset) => [topicOf(asset), new Set<number>()]))
  for await (const { logs } of spool.ranges())
    for (const { topics, blockNumber } of logs)
      for (const topic of topics) blocks.get(topic)?.add(blockNumber)
  return assets.map((asset) => [...blocks.get(topicOf(asset))!].slice(-MOST_BLOCKS_OF_ASSET))
}

function topicOf({ type, id }: AssetName): string {
  const coord = type === 'parcel' ? parseCoord(id) : undefined
  const number = coord ? encodeTokenId(coord) : BigInt(id)
  return `0x${number.toString(16).padStart(64, '0')}`
}

/** Blocks between those of `bounds` in which the contracts changed what they say of an asset. */
async function hiddenBlocks(
  { network, contractsAt, headerByNumber }: MendOptions,
  asset: AssetName,
  bounds: readonly number[],
): Promise<readonly number[]> {
  const token = tokenOf(network, asset)
  if (!token) return []
  const digestAt = async (number: number) =>
    assetDigest({ network, state: contractsAt(await headerByNumber(number)) }, token)
  const found: number[] = []
  for (const [at, first] of bounds.slice(0, -1).entries())
    found.push(...(await findChanges(digestAt, { first, last: bounds[at + 1]! - 1 })))
  return found
}
