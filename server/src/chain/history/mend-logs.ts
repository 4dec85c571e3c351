import { word } from '../../ethereum/words.ts'
import type { AssetName } from '../../land/records/assets.ts'
import type { BlockHeader, BlockRef, Network, RawLog } from '../chain-types.ts'
import { assetDigest } from '../check/asset-digest.ts'
import { findChanges } from '../check/change-blocks.ts'
import { type Token, tokenOf } from '../check/check-context.ts'
import { StateMissingError } from '../check/check-errors.ts'
import type { ContractState } from '../check/contract-state.ts'
import type { TimedLog } from '../packed-logs.ts'
import { Spool } from './spool.ts'
import type { SpoolPlace } from './spool-place.ts'

export interface MendOptions extends SpoolPlace {
  /** Whose rows are not what the contracts say. */
  readonly assets: readonly AssetName[]
  readonly network: Network
  readonly contractsAt: (block: BlockRef) => ContractState
  readonly headerByNumber: (number: number) => Promise<BlockHeader>
  /** All logs of our contracts in a block that is asked for by its hash. */
  readonly logsOfBlock: (block: BlockHeader) => Promise<readonly RawLog[]>
  /** Gets the blocks of which logs were missing, before these are stored. */
  readonly onFound: (blocks: readonly number[]) => Promise<void>
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
  const { folder, name, firstBlock, network, log } = options
  const tokens = options.assets.flatMap((asset) => tokenOf(network, asset) ?? [])
  const spool = await Spool.open(folder, { name, firstBlock })
  try {
    const last = spool.nextBlock - 1
    const known = await knownBlocks(spool, tokens)
    const blocks = new Set<number>()
    let hasState = true
    for (const [at, token] of tokens.entries()) {
      const ofAsset = known[at]!
      for (const block of ofAsset) blocks.add(block)
      if (!hasState) continue
      try {
        for (const block of await hiddenBlocks(options, token, [firstBlock, ...ofAsset, last + 1]))
          blocks.add(block)
      } catch (error) {
        if (!(error instanceof StateMissingError)) throw error
        hasState = false
        log(
          `blocks with missing logs can only be found among those with a stored log of the same asset: ${error.message}`,
        )
      }
    }
    const inOrder = [...blocks].filter((number) => number <= last).sort((a, b) => a - b)
    return await spool.addMissing(logsOf(inOrder, options), options.onFound)
  } finally {
    await spool.close()
  }
}

async function* logsOf(
  blocks: readonly number[],
  { headerByNumber, logsOfBlock }: MendOptions,
): AsyncGenerator<TimedLog> {
  for (const number of blocks) {
    const header = await headerByNumber(number)
    for (const log of await logsOfBlock(header)) yield { ...log, blockTimeS: header.timeS }
  }
}

/** For each asset the newest blocks that have a stored log with its number. */
async function knownBlocks(spool: Spool, tokens: readonly Token[]): Promise<readonly (readonly number[])[]> {
  const blocks = new Map(tokens.map((token) => [topicOf(token), new Set<number>()]))
  for await (const { logs } of spool.ranges())
    for (const { topics, blockNumber } of logs)
      for (const topic of topics) blocks.get(topic)?.add(blockNumber)
  return tokens.map((token) => [...blocks.get(topicOf(token))!].slice(-MOST_BLOCKS_OF_ASSET))
}

function topicOf({ id }: Token): string {
  return `0x${word(id)}`
}

/** Blocks between those of `bounds` in which the contracts changed what they say of an asset. */
async function hiddenBlocks(
  { network, contractsAt, headerByNumber }: MendOptions,
  token: Token,
  bounds: readonly number[],
): Promise<readonly number[]> {
  const digestAt = async (number: number) =>
    assetDigest({ network, state: contractsAt(await headerByNumber(number)) }, token)
  const found: number[] = []
  for (const [at, first] of bounds.slice(0, -1).entries())
    found.push(...(await findChanges(digestAt, { first, last: bounds[at + 1]! - 1 })))
  return found
}
