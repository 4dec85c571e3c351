import { ask, type OutboundAnswer } from '../../outbound.ts'
import { AnswerCache } from './answer-cache.ts'
import { CircuitBreaker, NoAnswerError } from './circuit-breaker.ts'
import type { ProviderOptions } from './provider.ts'

export interface ProviderCallsOptions<Value> extends ProviderOptions {
  /** Limit for the sum of the weights of all cached answers. */
  readonly maxWeight: number
  /** @param value undefined where the provider gave no answer */
  readonly weigh: (value: Value | undefined) => number
  /** The query of the address that is called for a key. */
  readonly queryOf: (key: string) => string
  /** Reads a response; undefined where it is no answer. */
  readonly read: (response: OutboundAnswer, key: string) => Value | undefined
}

/** What a provider said about a key; `value` is undefined where it gave no answer. */
export interface ProviderAnswer<Value> {
  readonly value: Value | undefined
}

/** Enough for 80,000 players. A provider that ignores which player was asked for answers with all of them. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024

/** The calls to one provider: behind a circuit breaker, and their answers cached. Calls for one key at the same time are one call. */
export class ProviderCalls<Value> {
  private readonly options: ProviderCallsOptions<Value>
  private readonly breaker: CircuitBreaker
  private readonly cache: AnswerCache<ProviderAnswer<Value>>

  constructor(options: ProviderCallsOptions<Value>) {
    const { clock, maxWeight, weigh } = options
    this.options = options
    this.breaker = new CircuitBreaker(clock)
    this.cache = new AnswerCache({ clock, maxWeight, weigh: ({ value }) => weigh(value) })
  }

  /** The cached answer, if `isGoodEnough` accepts its value and age. */
  findCached(
    key: string,
    isGoodEnough: (value: Value | undefined, ageMs: number) => boolean,
  ): ProviderAnswer<Value> | undefined {
    return this.cache.find(key, ({ value }, ageMs) => isGoodEnough(value, ageMs))
  }

  /** Calls the provider, whatever is cached. */
  ask(key: string): Promise<ProviderAnswer<Value>> {
    return this.cache.ask(key, async () => {
      try {
        return { value: await this.breaker.run(() => this.call(key)) }
      } catch {
        return { value: undefined }
      }
    })
  }

  private async call(key: string): Promise<Value> {
    const { url, config, queryOf, read } = this.options
    const response = await ask(
      { baseUrl: url, timeoutMs: config.timeoutMs, maxBytes: MAX_ANSWER_BYTES },
      { method: 'GET', path: queryOf(key) },
    )
    const value = read(response, key)
    if (value === undefined) throw new NoAnswerError(response.retryAfterMs)
    return value
  }
}
