import { type Call, runCall, targetOf } from '../contracts/calls.ts'
import type { Contracts } from '../contracts/contracts.ts'
import type { Outcome } from '../contracts/machine.ts'
import type { Word } from '../encoding/words.ts'
import type { Draft } from './scene.ts'

/** A transaction that was sent: the same hash in whatever block it is. */
export interface TransactionRequest extends Draft {
  readonly hash: Word
  /** The same as data, where it can be kept. */
  readonly call?: Call
}

/** Runs a transaction in the block that is being made. */
export type Execute = (request: TransactionRequest) => Outcome

/** Who sends the transactions of a chain. */
export interface Actors {
  /** Transactions of a block, on average. */
  average: number
  /** Sends those of the next block of the fork. */
  sendTransactions(fork: number, execute: Execute): void
  /** The chain went back. */
  lookAgain(): void
}

/** A call as a transaction. */
export function requestOf(contracts: Contracts, call: Call, hash: Word): TransactionRequest {
  const to = targetOf(contracts, call)
  return { hash, call, from: call.from, to, run: () => runCall(contracts, call) }
}
