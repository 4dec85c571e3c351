import type { Address, Word } from '../encoding/words.ts'
import { type Contract, Revert } from './machine.ts'

/** A call of a function of a contract, as data: it can run again in another block, with another outcome. */
export interface Call {
  readonly contract: Contract
  readonly method: string
  readonly args: readonly unknown[]
}

/** A transaction, before it is sent. */
export interface Draft {
  readonly from: Address
  /** The contract that it calls; the wallet of the sender where it calls several. */
  readonly to: Address
  readonly calls: readonly Call[]
}

/** A transaction that was sent: the same hash in whatever block it is. */
export interface SentTransaction extends Draft {
  readonly hash: Word
}

type MethodOf<C> = { [K in keyof C]: C[K] extends (...args: never[]) => unknown ? K : never }[keyof C] &
  string
type ArgumentsOf<F> = F extends (...args: infer A) => unknown ? A : never

/** @example callOf(land, 'transferFrom', ann, ann, bob, id) */
export function callOf<C extends Contract, M extends MethodOf<C>>(
  contract: C,
  method: M,
  ...args: ArgumentsOf<C[M]>
): Call {
  return { contract, method, args }
}

/** A transaction that calls one contract. @example draftOf(ann, land, 'transferFrom', ann, ann, bob, id) */
export function draftOf<C extends Contract, M extends MethodOf<C>>(
  from: Address,
  contract: C,
  method: M,
  ...args: ArgumentsOf<C[M]>
): Draft {
  return { from, to: contract.address, calls: [callOf(contract, method, ...args)] }
}

/** Runs all calls. @throws {Revert} where a contract refuses one, or does not have the function */
export function runCalls({ calls }: Draft): void {
  for (const { contract, method, args } of calls) {
    const run: unknown = contract[method as keyof Contract]
    if (typeof run !== 'function') throw new Revert(`there is no function ${method}`)
    run.apply(contract, args)
  }
}
