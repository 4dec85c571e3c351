import { CommandError } from '../../errors.ts'
import type { BlockRef } from '../chain-types.ts'

/** No node has the block of the tables in its chain: a reorganisation removed it, or the nodes are behind. */
export class BlockGoneError extends CommandError {
  constructor({ number, hash }: BlockRef, cause: Error) {
    super(
      `No node has block ${number} (${hash}), at which the land is, in its chain: ${cause.message}. A process that follows the chain replaces such a block: landpass follow.`,
    )
    this.name = 'BlockGoneError'
  }
}

/** The nodes keep the state of contracts only of the newest blocks. */
export class StateMissingError extends CommandError {
  constructor({ number }: BlockRef, cause: Error) {
    super(
      `No node has the state of the contracts at block ${number}, at which the land is: ${cause.message}. Full nodes keep it for the newest 128 blocks: let the land follow the chain up to its head, or use an archive node.`,
    )
    this.name = 'StateMissingError'
  }
}

/** A contract did not answer a function that it must have. */
export class UnansweredError extends CommandError {
  constructor(contract: string, signature: string) {
    super(
      `The contract ${contract} gave no answer to ${signature}. Check that CHAIN_NETWORK names the contracts of this chain.`,
    )
    this.name = 'UnansweredError'
  }
}
