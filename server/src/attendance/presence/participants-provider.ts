import { type Coord, coordText } from '@landpass/client/grid'
import { ask } from '../outbound.ts'
import { AnswerCache } from './answer-cache.ts'
import { CircuitBreaker, NoAnswerError } from './circuit-breaker.ts'
import { parseParticipants } from './participants-list.ts'
import { combineResults } from './policy.ts'
import type { PresenceResult } from './presence.ts'
import { type Finding, type Provider, type ProviderOptions, usableForMs } from './provider.ts'

/** Who is in the scene at a place; undefined addresses: nobody could tell. */
interface Said {
  readonly addresses: ReadonlySet<string> | undefined
}

/** Of an event with more places the first ones are asked for; who is not there is `unknown`, not `absent`. */
export const MAX_POINTERS = 20
const POINTERS_AT_ONCE = 4
/** Room for a scene of 80,000 players. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024
/** Addresses and lists together, about 150 bytes each. */
const MAX_CACHED_ADDRESSES = 200_000

const NOBODY: ReadonlySet<string> = new Set()

/**
 * Asks the gatekeeper who is in the voice and data room of the scene at a place:
 * `GET {url}?pointer=x,y&realm_name=main`. The client does not tell it a position, so there is none to be tolerant
 * about: the whole scene counts, however many parcels it has. A list serves all players until it is too old for them.
 */
export class ParticipantsProvider implements Provider {
  readonly name: string
  private readonly options: ProviderOptions
  private readonly breaker: CircuitBreaker
  private readonly cache: AnswerCache<Said>

  constructor(options: ProviderOptions) {
    this.options = options
    this.name = `participants ${new URL(options.url).host}`
    this.breaker = new CircuitBreaker(options.clock)
    this.cache = new AnswerCache({
      clock: options.clock,
      maxWeight: MAX_CACHED_ADDRESSES,
      weigh: ({ addresses }) => 1 + (addresses?.size ?? 0),
    })
  }

  async find(address: string, places: readonly Coord[]): Promise<Finding> {
    const pointers = places.map(coordText)
    // A list that is held already may name the player: no call is needed then, not even for the places before it
    if (pointers.some((pointer) => this.findCached(pointer, address) === 'present')) {
      return { result: 'present', isCached: true }
    }
    const finding = await this.findInAny(pointers.slice(0, MAX_POINTERS), address)
    const isAllAsked = pointers.length <= MAX_POINTERS
    return finding.result === 'absent' && !isAllAsked ? { ...finding, result: 'unknown' } : finding
  }

  /** Several lists at a time, until one names the player: those that are on their way then are not waited for. */
  private findInAny(pointers: readonly string[], address: string): Promise<Finding> {
    const results: PresenceResult[] = []
    let next = 0
    let isCached = true
    return new Promise((resolve, reject) => {
      const lookOn = async (): Promise<void> => {
        while (next < pointers.length && !results.includes('present')) {
          const finding = await this.findAt(pointers[next++]!, address)
          results.push(finding.result)
          isCached &&= finding.isCached
          if (finding.result === 'present') resolve({ result: 'present', isCached })
        }
      }
      Promise.all(Array.from({ length: POINTERS_AT_ONCE }, lookOn)).then(
        () => resolve({ result: combineResults('any', results), isCached }),
        reject,
      )
    })
  }

  private async findAt(pointer: string, address: string): Promise<Finding> {
    const held = this.findCached(pointer, address)
    if (held) return { result: held, isCached: true }
    const said = await this.cache.ask(pointer, () => this.ask(pointer))
    return { result: judge(said, address), isCached: false }
  }

  private findCached(pointer: string, address: string): PresenceResult | undefined {
    const { cacheMs } = this.options.config
    const held = this.cache.find(pointer, (said, ageMs) => ageMs < usableForMs(judge(said, address), cacheMs))
    return held && judge(held, address)
  }

  private async ask(pointer: string): Promise<Said> {
    try {
      return { addresses: await this.breaker.pass(() => this.call(pointer)) }
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
    if (answer.status === 404) return NOBODY // no scene stands there
    const addresses = answer.status === 200 ? parseParticipants(answer.json) : undefined
    if (!addresses) throw new NoAnswerError(answer.retryAfterMs)
    return addresses
  }
}

function judge({ addresses }: Said, address: string): PresenceResult {
  if (!addresses) return 'unknown'
  return addresses.has(address) ? 'present' : 'absent'
}
