import { type Clock, steadyMs } from '../../clock.ts'

interface Entry<Value> {
  readonly value: Value
  readonly answeredAtMs: number
  readonly weight: number
}

export interface AnswerCacheOptions<Value> {
  readonly clock: Clock
  /** Limit for the sum of all weights; beyond it the oldest entries are deleted. */
  readonly maxWeight: number
  readonly weigh: (value: Value) => number
}

/**
 * Caches answers by name. Requests for the same name at the same time share one call.
 *
 * @example
 * cache.find('a', (_value, ageMs) => ageMs < 5_000) ?? (await cache.ask('a', () => requestAnswer('a')))
 */
export class AnswerCache<Value extends object> {
  private readonly options: AnswerCacheOptions<Value>
  /** The oldest answer first. */
  private readonly entries = new Map<string, Entry<Value>>()
  private readonly pending = new Map<string, Promise<Value>>()
  private totalWeight = 0

  constructor(options: AnswerCacheOptions<Value>) {
    this.options = options
  }

  /** The cached answer, if `isGoodEnough` accepts its value and age. */
  find(name: string, isGoodEnough: (value: Value, ageMs: number) => boolean): Value | undefined {
    const entry = this.entries.get(name)
    if (!entry) return undefined
    const ageMs = steadyMs(this.options.clock) - entry.answeredAtMs
    return isGoodEnough(entry.value, ageMs) ? entry.value : undefined
  }

  /** Calls `question` and caches its answer; shares the call that is under way for the same name. */
  ask(name: string, question: () => Promise<Value>): Promise<Value> {
    const shared = this.pending.get(name)
    if (shared) return shared
    const answer = question()
      .then((value) => {
        this.store(name, value)
        return value
      })
      .finally(() => this.pending.delete(name))
    this.pending.set(name, answer)
    return answer
  }

  /** The sum of all weights. */
  get weight(): number {
    return this.totalWeight
  }

  private store(name: string, value: Value): void {
    this.drop(name)
    const weight = this.options.weigh(value)
    if (weight > this.options.maxWeight) return
    for (const oldest of this.entries.keys()) {
      if (this.totalWeight + weight <= this.options.maxWeight) break
      this.drop(oldest)
    }
    this.entries.set(name, { value, answeredAtMs: steadyMs(this.options.clock), weight })
    this.totalWeight += weight
  }

  private drop(name: string): void {
    this.totalWeight -= this.entries.get(name)?.weight ?? 0
    this.entries.delete(name)
  }
}
