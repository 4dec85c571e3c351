import type { ContractCall } from '../rpc/node.ts'
import { UnansweredError } from './check-errors.ts'
import type { Argument, ContractFunction } from './contract-functions.ts'

/** Makes many calls; undefined for those that the contract refuses. */
export type ReadAll = (calls: readonly ContractCall[]) => Promise<readonly (string | undefined)[]>

interface Waiting {
  readonly call: ContractCall
  readonly resolve: (returned: string | undefined) => void
  readonly reject: (error: unknown) => void
}

/**
 * Contracts in the state of one block. Calls that are made in the same turn of the event loop are sent together, so that
 * each asset can be compared by a function of its own while the node gets few requests.
 */
export class ContractState {
  /** Calls of functions, as the contracts see them. */
  calls = 0
  private readonly readAll: ReadAll
  private waiting: Waiting[] = []

  constructor(readAll: ReadAll) {
    this.readAll = readAll
  }

  /**
   * What a function returns that never refuses a call.
   *
   * @throws {UnansweredError} where there is no answer
   */
  async read<Returned>(
    contract: string,
    called: ContractFunction<Returned>,
    ...values: readonly Argument[]
  ): Promise<Returned> {
    const returned = await this.tryToRead(contract, called, ...values)
    if (returned === undefined) throw new UnansweredError(contract, called.signature)
    return returned
  }

  /** What a function returns; undefined where the contract refuses the call, or does not exist at the block. */
  async tryToRead<Returned>(
    contract: string,
    called: ContractFunction<Returned>,
    ...values: readonly Argument[]
  ): Promise<Returned | undefined> {
    const returned = await this.call({ to: contract, data: called.encode(...values) })
    return returned === undefined ? undefined : called.decode(returned)
  }

  private call(call: ContractCall): Promise<string | undefined> {
    this.calls += 1
    return new Promise((resolve, reject) => {
      if (this.waiting.length === 0) setImmediate(() => void this.send())
      this.waiting.push({ call, resolve, reject })
    })
  }

  private async send(): Promise<void> {
    const waiting = this.waiting
    this.waiting = []
    try {
      const answers = await this.readAll(waiting.map(({ call }) => call))
      for (const [at, { resolve }] of waiting.entries()) resolve(answers[at])
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }
}
