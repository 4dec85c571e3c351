import type { BlockRange } from '../follow/chain-source.ts'

export interface ExpectedCallsOptions {
  /** The blocks whose logs are not stored. */
  readonly blocks: BlockRange
  /** Blocks of the largest range. */
  readonly maxRangeBlocks: number
  /** Whether there are nodes on two hosts: then both are asked for the logs of each range. */
  readonly isCompared: boolean
}

/**
 * A line for operators: which calls the logs of the history need, by method. Nodes that answer shorter ranges only get more.
 *
 * @example
 * expectedCallsText({ blocks: { first: 1, last: 25_000 }, maxRangeBlocks: 10_000, isCompared: false })
 * // 'the logs of blocks 1 to 25000 need about 9 calls: 3 eth_getLogs and 6 eth_getBlockByNumber, …'
 */
export function expectedCallsText({ blocks, maxRangeBlocks, isCompared }: ExpectedCallsOptions): string {
  const ranges = Math.ceil((blocks.last - blocks.first + 1) / maxRangeBlocks)
  const logs = isCompared ? 2 * ranges : ranges
  const ofHosts = isCompared ? ' (half of them to a second host)' : ''
  return `the logs of blocks ${blocks.first} to ${blocks.last} need about ${logs + 2 * ranges} calls: ${logs} eth_getLogs${ofHosts} and ${2 * ranges} eth_getBlockByNumber, with ranges of ${maxRangeBlocks} blocks; more where a node answers shorter ranges only. Where logs have no blockTimestamp, each block with logs needs an eth_getBlockByHash, up to 100 in a request. eth_getBlockReceipts is needed only for blocks of which a log may be missing`
}
