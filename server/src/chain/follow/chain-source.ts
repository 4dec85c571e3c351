import type { BlockHeader, RawLog } from '../chain-types.ts'

/** The blocks from `first` to `last`, both included. */
export interface BlockRange {
  readonly first: number
  readonly last: number
}

/** The newest block up to which the chain is followed, and the newest that can no longer change, of one node. */
export interface ChainHeads {
  readonly head: BlockHeader
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
  /** All logs of our contracts in this block, in their order. */
  readonly logsOfBlock: (block: BlockHeader) => Promise<readonly RawLog[]>
  /** All logs of our contracts in blocks that are final, in their order; from another node than the other calls where there are several. */
  readonly logsOfRange: (range: BlockRange) => Promise<readonly RawLog[]>
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
