import type { Block } from '../blocks/block.ts'
import type { SimulatedChain } from '../blocks/chain.ts'
import { changeSettings, DEFAULT_SETTINGS, NO_FAULTS, type NodeSettings } from './settings.ts'

/** A range of blocks of eth_getLogs, or the one block that was named by its hash. */
export type AskedLogs = { readonly from: number; readonly to: number } | { readonly blockHash: string }

const MOST_REMEMBERED_RANGES = 10_000
const NO_FAULT = JSON.stringify(NO_FAULTS)
/** Spreads the calls that are hit by chance: an odd number without a pattern. */
const SPREAD = 2_654_435_761

/** A node: what it knows of the chain, how it behaves, and what it was asked. All nodes follow the same chain. */
export class SimulatedNode {
  readonly chain: SimulatedChain
  settings: NodeSettings = DEFAULT_SETTINGS
  private frozenAt: number | undefined
  private affectedCalls = 0
  private hits = 0
  /** How often each method was called. */
  calls: Record<string, number> = {}
  requests = 0
  askedLogs: AskedLogs[] = []

  constructor(chain: SimulatedChain) {
    this.chain = chain
  }

  /** @throws {ControlError} */
  change(changes: unknown): NodeSettings {
    this.settings = changeSettings(this.settings, changes)
    this.frozenAt = this.settings.frozen ? (this.frozenAt ?? this.chain.head.number) : undefined
    this.affectedCalls = 0
    this.hits = 0
    return this.settings
  }

  /** As after the start. */
  reset(): void {
    this.change(DEFAULT_SETTINGS)
    this.calls = {}
    this.requests = 0
    this.askedLogs = []
  }

  /** The newest block that this node knows. */
  get head(): Block {
    const newest = Math.min(this.frozenAt ?? Number.POSITIVE_INFINITY, this.chain.head.number)
    const { first } = this.chain
    return this.chain.block(Math.max(first.number, newest - this.settings.lag_blocks)) ?? first
  }

  block(number: number): Block | undefined {
    return number <= this.head.number ? this.chain.block(number) : undefined
  }

  blockByHash(hash: string): Block | undefined {
    const found = this.chain.blockByHash(hash)
    const isKnown = found?.isOrphan ? this.settings.keeps_orphans : true
    return isKnown && found && found.block.number <= this.head.number ? found.block : undefined
  }

  /** Counts a call, and says which faults it meets: none if they are for other methods. */
  countCall(method: string): NodeSettings {
    this.calls[method] = (this.calls[method] ?? 0) + 1
    const { settings } = this
    const isAffected = settings.methods.length === 0 || settings.methods.includes(method)
    if (!isAffected || !hasFaults(settings)) return { ...settings, ...NO_FAULTS }
    this.affectedCalls += 1
    if (!isHit(this.affectedCalls, settings)) return { ...settings, ...NO_FAULTS }
    this.hits += 1
    if (this.hits === settings.for_calls) this.settings = { ...settings, ...NO_FAULTS }
    return settings
  }

  remember(asked: AskedLogs): void {
    this.askedLogs.push(asked)
    if (this.askedLogs.length > MOST_REMEMBERED_RANGES) this.askedLogs.shift()
  }
}

function hasFaults(settings: NodeSettings): boolean {
  const names = Object.keys(NO_FAULTS) as (keyof typeof NO_FAULTS)[]
  const present = Object.fromEntries(names.map((name) => [name, settings[name]]))
  return JSON.stringify({ ...present, methods: [], for_calls: 0, every: 0, percent: 0 }) !== NO_FAULT
}

function isHit(call: number, { every, percent }: NodeSettings): boolean {
  if (every > 1 && call % every !== 0) return false
  return percent === 0 || (Math.imul(call, SPREAD) >>> 16) % 100 < percent
}
