import { type Coord, coordText } from '@landpass/client/grid'
import { ask } from '../../outbound.ts'
import { AnswerCache } from './answer-cache.ts'
import { CircuitBreaker, NoAnswerError } from './circuit-breaker.ts'
import { parseParticipants } from './participants-list.ts'
import { combineResults } from './policy.ts'
import type { PresenceResult } from './presence.ts'
import { type Finding, type Provider, type ProviderOptions, usableForMs } from './provider.ts'

/** The players in the scene at a place; `addresses` is undefined when the provider gave no answer. */
interface ParticipantsAnswer {
  readonly addresses: ReadonlySet<string> | undefined
}

/** How many places of an event are requested. With more places, a player who is not found is `unknown`, not `absent`. */
export const MAX_POINTERS = 20
const POINTERS_AT_ONCE = 4
/** Enough for a scene with 80,000 players. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024
/** Addresses of all lists together, about 150 bytes each. */
const MAX_CACHED_ADDRESSES = 200_000
/** What a list takes besides its addresses, in addresses. */
const LIST_WEIGHT = 3

const NO_ADDRESSES: ReadonlySet<string> = new Set()

/**
 * Requests the players in the voice and data room of the scene at a place from the gatekeeper:
 * `GET {url}?pointer=x,y&realm_name=main`. The answer has no positions, so the whole scene counts, however many parcels
 * it has, and the tolerance setting does not apply. One list is used for all players while it is new enough.
 */
export class ParticipantsProvider implements Provider {
  readonly name: string
  private readonly options: ProviderOptions
  private readonly breaker: CircuitBreaker
  private readonly cache: AnswerCache<ParticipantsAnswer>

  constructor(options: ProviderOptions) {
    this.options = options
    this.name = `participants ${new URL(options.url).host}`
    this.breaker = new CircuitBreaker(options.clock)
    this.cache = new AnswerCache({
      clock: options.clock,
      maxWeight: MAX_CACHED_ADDRESSES,
      weigh: ({ addresses }) => LIST_WEIGHT + (addresses?.size ?? 0),
    })
  }

  async find(address: string, places: readonly Coord[]): Promise<Finding> {
    const pointers = places.map(coordText)
    // A cached list of any place may name the player: then no call is needed
    if (pointers.some((pointer) => this.findCached(pointer, address) === 'present')) {
      return { result: 'present', isCached: true }
    }
    const finding = await this.findInAny(pointers.slice(0, MAX_POINTERS), address)
    const areAllRequested = pointers.length <= MAX_POINTERS
    return finding.result === 'absent' && !areAllRequested ? { ...finding, result: 'unknown' } : finding
  }

  /** Requests several lists at a time until one names the player; calls that still run then are not awaited. */
  private findInAny(pointers: readonly string[], address: string): Promise<Finding> {
    const results: PresenceResult[] = []
    let next = 0
    let isCached = true
    return new Promise((resolve, reject) => {
      const requestNext = async (): Promise<void> => {
        while (next < pointers.length && !results.includes('present')) {
          const finding = await this.findAt(pointers[next++]!, address)
          results.push(finding.result)
          isCached &&= finding.isCached
          if (finding.result === 'present') resolve({ result: 'present', isCached })
        }
      }
      Promise.all(Array.from({ length: POINTERS_AT_ONCE }, requestNext)).then(
        () => resolve({ result: combineResults('any', results), isCached }),
        reject,
      )
    })
  }

  private async findAt(pointer: string, address: string): Promise<Finding> {
    const cached = this.findCached(pointer, address)
    if (cached) return { result: cached, isCached: true }
    const answer = await this.cache.ask(pointer, () => this.ask(pointer))
    return { result: judge(answer, address), isCached: false }
  }

  private findCached(pointer: string, address: string): PresenceResult | undefined {
    const { cacheMs } = this.options.config
    const cached = this.cache.find(
      pointer,
      (answer, ageMs) => ageMs < usableForMs(judge(answer, address), cacheMs),
    )
    return cached && judge(cached, address)
  }

  private async ask(pointer: string): Promise<ParticipantsAnswer> {
    try {
      return { addresses: await this.breaker.run(() => this.call(pointer)) }
    } catch {
      return { addresses: undefined }
    }
  }

  private async call(pointer: string): Promise<ReadonlySet<string>> {
    const { url, config } = this.options
    const answer = await ask(
      { baseUrl: url, timeoutMs: config.timeoutMs, maxBytes: MAX_ANSWER_BYTES },
      { method: 'GET', path: `?pointer=${pointer}&realm_name=${encodeURIComponent(config.realm)}` },
    )
    if (answer.status === 404) return NO_ADDRESSES // there is no scene
    const addresses = answer.status === 200 ? parseParticipants(answer.json) : undefined
    if (!addresses) throw new NoAnswerError(answer.retryAfterMs)
    return addresses
  }
}

function judge({ addresses }: ParticipantsAnswer, address: string): PresenceResult {
  if (!addresses) return 'unknown'
  return addresses.has(address) ? 'present' : 'absent'
}
