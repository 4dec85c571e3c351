import type { ContractRole, RawLog } from '../chain-types.ts'
import type { OtherLog } from './decode-log.ts'

/** How many logs of one kind changed nothing. */
export interface TallyEntry {
  readonly outcome: OtherLog['outcome']
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
 * has a limit: further kinds are counted together. The first log of each kind of which it is not known what it changed is
 * a line for operators.
 *
 * @example
 * const tally = new LogTally(console.log)
 * tally.add({ outcome: 'ignored', role: 'LANDRegistry', topic0: '0x01' }, log)
 * tally.entries() // [{ outcome: 'ignored', role: 'LANDRegistry', topic0: '0x01', count: 1 }]
 */
export class LogTally {
  readonly #counts = new Map<string, TallyEntry>()
  readonly #log: (line: string) => void

  constructor(log: (line: string) => void) {
    this.#log = log
  }

  add(other: OtherLog, log: Pick<RawLog, 'address' | 'blockNumber'>): void {
    const { outcome, role, topic0 } = other
    const exact = `${outcome} ${role} ${topic0} ${outcome === 'upgraded' ? other.code : ''}`
    const isCounted = this.#counts.has(exact) || this.#counts.size < MAX_KINDS
    const name = isCounted ? exact : `${outcome} ${role}`
    const { count } = this.#counts.get(name) ?? { count: 0 }
    const entry = { outcome, role, topic0: isCounted ? topic0 : undefined, count: count + 1 }
    this.#counts.set(name, entry)
    if (count === 0 && isCounted && outcome !== 'ignored') this.#log(textOf(other, log))
  }

  /** One entry for each kind, in the order in which they came first. */
  entries(): readonly TallyEntry[] {
    return [...this.#counts.values()]
  }
}

function textOf(
  other: Exclude<OtherLog, { outcome: 'ignored' }>,
  { address, blockNumber }: Pick<RawLog, 'address' | 'blockNumber'>,
): string {
  return `warning: ${other.role} (${address}) has ${whatOf(other)}, seen first in block ${blockNumber}. What it changed may be missing in the land: install a newer version of Landpass, or compare the land by landpass chain check`
}

function whatOf(other: Exclude<OtherLog, { outcome: 'ignored' }>): string {
  const { outcome, topic0 = 'none' } = other
  if (outcome === 'upgraded') return `code that this version does not know (at ${other.code ?? 'no address'})`
  if (outcome === 'unknown') return `logs of an event that this version does not know (first topic ${topic0})`
  return `logs that this version cannot read (first topic ${topic0}: ${other.reason})`
}
