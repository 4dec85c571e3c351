import type { Clock } from '../../clock.ts'

interface Held<Value> {
  readonly value: Value
  readonly answeredAtMs: number
  readonly weight: number
}

export interface AnswerCacheOptions<Value> {
  readonly clock: Clock
  /** All values together weigh no more: the oldest make room. */
  readonly maxWeight: number
  readonly weigh: (value: Value) => number
}

/**
 * What was answered to a question, by its name. Equal questions that are asked at the same time share one answer.
 *
 * @example
 * cache.find('a', (_value, ageMs) => ageMs < 5_000) ?? (await cache.ask('a', () => askSomebody('a')))
 */
export class AnswerCache<Value extends object> {
  private readonly options: AnswerCacheOptions<Value>
  /** In the order in which they were answered. */
  private readonly held = new Map<string, Held<Value>>()
  private readonly asked = new Map<string, Promise<Value>>()
  private heldWeight = 0

  constructor(options: AnswerCacheOptions<Value>) {
    this.options = options
  }

  /** What is held, if it is still good enough for the one who asks. */
  find(name: string, isGoodEnough: (value: Value, ageMs: number) => boolean): Value | undefined {
    const held = this.held.get(name)
    if (!held) return undefined
    const ageMs = this.options.clock.nowMs() - held.answeredAtMs
    return isGoodEnough(held.value, ageMs) ? held.value : undefined
  }

  /** Asks, unless the same is being asked already, and holds the answer. */
  ask(name: string, question: () => Promise<Value>): Promise<Value> {
    const shared = this.asked.get(name)
    if (shared) return shared
    const answer = question()
      .then((value) => {
        this.hold(name, value)
        return value
      })
      .finally(() => this.asked.delete(name))
    this.asked.set(name, answer)
    return answer
  }

  /** The weight of all that is held. */
  get weight(): number {
    return this.heldWeight
  }

  private hold(name: string, value: Value): void {
    this.drop(name)
    const weight = this.options.weigh(value)
    if (weight > this.options.maxWeight) return
    for (const oldest of this.held.keys()) {
      if (this.heldWeight + weight <= this.options.maxWeight) break
      this.drop(oldest)
    }
    this.held.set(name, { value, answeredAtMs: this.options.clock.nowMs(), weight })
    this.heldWeight += weight
  }

  private drop(name: string): void {
    this.heldWeight -= this.held.get(name)?.weight ?? 0
    this.held.delete(name)
  }
}
