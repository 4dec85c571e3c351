import { type Argument, encode } from '../encoding/abi.ts'
import { type Address, numberWord, type Word } from '../encoding/words.ts'
import { StateHistory } from './cells.ts'
import type { Eras } from './eras.ts'

/** A log as a contract writes it. Its place in the block comes with the block. */
export interface SimulatedLog {
  readonly address: Address
  readonly topics: readonly Word[]
  /** Hex. */
  readonly data: string
}

/** A transaction is refused: nothing of it happens, and it has no logs. */
export class Revert extends Error {}

/** The outcome of a transaction. */
export interface Outcome {
  readonly isSuccess: boolean
  readonly logs: readonly SimulatedLog[]
}

/** What contracts run on: the block that is being made, the state of all contracts, and the logs of the transaction. */
export class Machine {
  readonly history: StateHistory
  readonly eras: Eras
  /** Seconds since 1970. */
  timeS = 0
  private logs: SimulatedLog[] = []

  constructor(eras: Eras, history = new StateHistory()) {
    this.eras = eras
    this.history = history
  }

  get blockNumber(): number {
    return this.history.block
  }

  beginBlock(timeS: number): void {
    this.history.beginBlock()
    this.timeS = timeS
  }

  /** Runs a transaction: all of it, or nothing. */
  run(transaction: () => void): Outcome {
    const mark = this.history.mark()
    this.logs = []
    try {
      transaction()
      return { isSuccess: true, logs: this.logs }
    } catch (error) {
      if (!(error instanceof Revert)) throw error
      this.history.undoToMark(mark)
      return { isSuccess: false, logs: [] }
    }
  }

  log(log: SimulatedLog): void {
    this.logs.push(log)
  }

  /** Whether the block is in the era that starts at `first`. */
  isSince(first: number): boolean {
    return this.blockNumber >= first
  }
}

export class Contract {
  readonly address: Address
  protected readonly machine: Machine

  constructor(machine: Machine, address: Address) {
    this.machine = machine
    this.address = address
  }

  /** Writes a log of this contract. */
  protected log(topics: readonly Word[], ...data: readonly Argument[]): void {
    this.machine.log({ address: this.address, topics, data: encode(...data) })
  }
}

/** @throws {Revert} where a condition of the contract does not hold */
export function require(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new Revert(reason)
}

/** An order id or bid id as text: the id of no order. */
export const NO_ID: Word = numberWord(0)
