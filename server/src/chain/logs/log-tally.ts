import type { ContractRole } from '../chain-types.ts'
import type { IgnoredLog, UnreadableLog } from './decode-log.ts'

/** How many logs of one kind changed nothing. */
export interface TallyEntry {
  readonly outcome: 'ignored' | 'unreadable'
  /** Undefined where the address is of no contract of the network. */
  readonly role: ContractRole | undefined
  /** Undefined for logs without topics, and for those of a kind that came after {@link MAX_KINDS} others. */
  readonly topic0: string | undefined
  readonly count: number
}

/** More kinds than the contracts have events. */
const MAX_KINDS = 500

/**
 * Counts the logs that changed nothing, by contract and first topic, so that none is dropped without a trace. Its size
 * has a limit: further kinds are counted together.
 *
 * @example
 * const tally = new LogTally()
 * tally.add({ outcome: 'ignored', role: 'LANDRegistry', topic0: '0x01' })
 * tally.entries() // [{ outcome: 'ignored', role: 'LANDRegistry', topic0: '0x01', count: 1 }]
 */
export class LogTally {
  readonly #counts = new Map<string, TallyEntry>()

  add({ outcome, role, topic0 }: IgnoredLog | UnreadableLog): void {
    const exact = `${outcome} ${role} ${topic0}`
    const isCounted = this.#counts.has(exact) || this.#counts.size < MAX_KINDS
    const name = isCounted ? exact : `${outcome} ${role}`
    const { count } = this.#counts.get(name) ?? { count: 0 }
    const entry = { outcome, role, topic0: isCounted ? topic0 : undefined, count: count + 1 }
    this.#counts.set(name, entry)
  }

  /** One entry for each kind, in the order in which they came first. */
  entries(): readonly TallyEntry[] {
    return [...this.#counts.values()]
  }
}
