import type { BlockHeader, BlockRef, RawLog } from '../chain-types.ts'

/** The blocks from `first` to `last`, both included. */
export interface BlockRange {
  readonly first: number
  readonly last: number
}

/** The logs of a range. */
export interface RangeLogs {
  /** In their order. */
  readonly logs: readonly RawLog[]
  /**
   * The last block of each part that one node answered, as that node has it; in their order, the last one is the last block of
   * the range. With their hashes the caller checks that all parts are of one chain.
   */
  readonly ends: readonly BlockRef[]
}

export interface ChainHeads {
  /** The newest block of the node. */
  readonly latest: BlockHeader
  /** The newest block up to which the chain is followed: the latest, the safe or the final one. */
  readonly head: BlockHeader
  /** The newest block that can no longer change. */
  readonly finalized: BlockHeader
}

/**
 * What the follower reads of the chain. Whichever node answers, its answers were checked for their form. A call fails
 * where no node gives a usable answer: then it is repeated later.
 */
export interface ChainSource {
  readonly heads: () => Promise<ChainHeads>
  readonly headerByHash: (hash: string) => Promise<BlockHeader>
  readonly headerByNumber: (number: number) => Promise<BlockHeader>
  /** Whether any node has this block; the one that gave the head is asked first. */
  readonly hasBlock: (block: BlockRef) => Promise<boolean>
  /** The head has been proven wrong: the node that gave it is avoided for a while. */
  readonly refuteHead: (reason: string) => void
  /** All logs of our contracts in this block, in their order. */
  readonly logsOfBlock: (block: BlockHeader) => Promise<readonly RawLog[]>
  /**
   * The same where it is known that no log is missing; undefined where that is not known yet, of the newest block: it is asked
   * for again later.
   */
  readonly confirmedLogs: (block: BlockHeader) => Promise<readonly RawLog[] | undefined>
  /**
   * All logs of our contracts in blocks that are final; from another node than the other calls where there are several.
   *
   * @param beforeEachTry is called before each part of the range, and before it is tried again; its error ends the reading
   */
  readonly logsOfRange: (range: BlockRange, beforeEachTry?: () => Promise<void>) => Promise<RangeLogs>
  /** The logs of our contracts in this block, proven by its hash; undefined where no node can prove them. */
  readonly provenLogs: (block: BlockHeader) => Promise<readonly RawLog[] | undefined>
}

/** Answers that contradict each other or what is known. Another node, or a later answer, may be right. */
export class ContradictionError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ContradictionError'
  }
}
