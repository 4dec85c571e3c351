import type { NodeFailure } from './node-error.ts'
import type { BlockRange } from './refusals.ts'

/** While the node has refused no range. */
const FIRST_GROWTH = 2
/** After a refusal. */
const LATER_GROWTH = 1.25

/**
 * How many blocks one node is asked for at once. Grows while ranges are answered; a refusal makes it what the node suggests,
 * else half. A limit of blocks is never exceeded again; a limit of results only means that this part of the chain is dense.
 */
export class RangeSize {
  private size: number
  /** The node's limit of blocks, as far as it is known. */
  private most: number
  private growth = FIRST_GROWTH

  /**
   * @param first blocks of the first range
   * @param most blocks of any range
   */
  constructor(first: number, most: number) {
    this.most = most
    this.size = Math.min(first, most)
  }

  /** Blocks of the next range, at least 1. */
  get blocks(): number {
    return this.size
  }

  /** A range of this many blocks has been answered. */
  noteAnswer(blocks: number): void {
    // A range that was shorter, such as the last one, says nothing about a longer one
    if (blocks < this.size) return
    this.size = Math.min(this.most, Math.max(blocks + 1, Math.floor(blocks * this.growth)))
  }

  /** A range has been refused because it was too large, or had too many results. */
  noteRefusal(range: BlockRange, failure: NodeFailure): void {
    const blocks = range.toBlock - range.fromBlock + 1
    this.growth = LATER_GROWTH
    const next = suggestedBlocks(range, failure) ?? Math.max(1, blocks >> 1)
    this.most = Math.min(this.most, limitOf(blocks, failure, next))
    // Several ranges of the same size may be refused at the same time: the size is halved once
    this.size = Math.min(this.size, this.most, next)
  }
}

/** How many blocks the node's words suggest; undefined where they suggest none that are fewer. */
function suggestedBlocks(range: BlockRange, failure: NodeFailure): number | undefined {
  const blocks = range.toBlock - range.fromBlock + 1
  if ('suggested' in failure && failure.suggested) {
    const { fromBlock, toBlock } = failure.suggested
    const isPart = fromBlock >= range.fromBlock && toBlock <= range.toBlock
    if (isPart && toBlock - fromBlock + 1 < blocks) return toBlock - fromBlock + 1
  }
  if ('maxBlocks' in failure && failure.maxBlocks !== undefined && failure.maxBlocks < blocks) {
    return failure.maxBlocks
  }
  return undefined
}

/** The limit of blocks after a refusal: what the node names, else less than was refused, so that growth ends below it. */
function limitOf(blocks: number, failure: NodeFailure, next: number): number {
  if (failure.kind !== 'range_too_large') return Number.POSITIVE_INFINITY
  const named = 'maxBlocks' in failure ? failure.maxBlocks : undefined
  if (named === undefined) return Math.max(next, Math.floor(blocks * 0.75))
  // A range within the named limit was refused for its results
  return named < blocks ? named : Number.POSITIVE_INFINITY
}
