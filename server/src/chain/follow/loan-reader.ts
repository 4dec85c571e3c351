import type { LoanTerms } from '../../land/events/land-event.ts'
import type { BlockRef } from '../chain-types.ts'
import { type FailureKind, NodeError } from '../rpc/node-error.ts'
import type { ChainHeads } from './chain-source.ts'
import { NoNumberError, readLoanTerms } from './loan-terms.ts'

interface ContractCall {
  readonly to: string
  readonly data: string
}

export interface LoanReaderOptions {
  /** Address of the contract of the loans; undefined where the network has none. */
  readonly contract: string | undefined
  /** What a function of a contract returns after a block. */
  readonly readContract: (call: ContractCall, blockHash: string) => Promise<string>
  /** The heads that were read last, without a call. */
  readonly lastHeads: () => ChainHeads | undefined
}

/** How nodes answer where they no longer have the state of an old block. */
const WITHOUT_STATE: ReadonlySet<FailureKind> = new Set<FailureKind>(['history', 'refused'])

/** Reads the terms of loans, which no log has. Undefined where the contract has no such loan. */
export class LoanReader {
  private readonly options: LoanReaderOptions

  constructor(options: LoanReaderOptions) {
    this.options = options
  }

  /**
   * The terms after the block that requests the mortgage: another branch, or a node that lags, may not have the loan. Where
   * no node has the state of that block any more, the terms are read at the newest block, since they never change.
   *
   * @throws {NodeError | NoNodeError} where no node answers
   */
  async termsAt(loanId: bigint, block: BlockRef): Promise<LoanTerms | undefined> {
    try {
      return await this.read(loanId, block.hash)
    } catch (error) {
      const latest = this.options.lastHeads()?.latest
      const isWithoutState = error instanceof NodeError && WITHOUT_STATE.has(error.kind)
      if (!isWithoutState || !latest || latest.number <= block.number) throw error
      return this.read(loanId, latest.hash)
    }
  }

  /** The terms by a function that calls contracts, for the history: few nodes have the state of its old blocks. */
  async termsBy(loanId: bigint, readContract: (call: ContractCall) => Promise<string>) {
    const { contract: to } = this.options
    if (to === undefined) return undefined
    return termsFrom((data) => readContract({ to, data }), loanId)
  }

  private async read(loanId: bigint, blockHash: string): Promise<LoanTerms | undefined> {
    return this.termsBy(loanId, (call) => this.options.readContract(call, blockHash))
  }
}

async function termsFrom(read: (data: string) => Promise<string>, loanId: bigint) {
  try {
    return await readLoanTerms(read, loanId)
  } catch (error) {
    const isReverted = error instanceof NodeError && error.kind === 'reverted'
    if (isReverted || error instanceof NoNumberError) return undefined
    throw error
  }
}
