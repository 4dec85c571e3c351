import type { Coord } from '@landpass/client/grid'
import { ask } from '../outbound.ts'
import { AnswerCache } from './answer-cache.ts'
import { CircuitBreaker, NoAnswerError } from './circuit-breaker.ts'
import type { PresenceResult } from './presence.ts'
import { type Finding, type Provider, type ProviderOptions, usableForMs } from './provider.ts'
import { judgeSightings, parseSightings, type Sighting } from './sightings.ts'

/** What was said of one player; undefined sightings: nobody could tell. */
interface Said {
  readonly sightings: readonly Sighting[] | undefined
}

/** A thousand bytes would do for one player; a provider that does not understand `?id=` answers with all of them. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024
/** About 200 bytes each. */
const MAX_CACHED_PLAYERS = 20_000

/**
 * Asks the statistics service of the main world for one player: `GET {url}?id=0x…`, in lower case, since that is how
 * it compares. Where the player is comes from the client's own heartbeat; when it came is the service's word, and
 * judging its age is left to us: the service itself forgets nobody whose connection stays open.
 */
export class PeersProvider implements Provider {
  readonly name: string
  private readonly options: ProviderOptions
  private readonly breaker: CircuitBreaker
  private readonly cache: AnswerCache<Said>

  constructor(options: ProviderOptions) {
    this.options = options
    this.name = `peers ${new URL(options.url).host}`
    this.breaker = new CircuitBreaker(options.clock)
    this.cache = new AnswerCache({
      clock: options.clock,
      maxWeight: MAX_CACHED_PLAYERS,
      weigh: ({ sightings }) => Math.max(sightings?.length ?? 0, 1),
    })
  }

  async find(address: string, places: readonly Coord[]): Promise<Finding> {
    const { config, clock } = this.options
    const nowMs = clock.nowMs()
    const held = this.cache.find(address, (said, ageMs) => {
      const result = this.judge(said, places, nowMs)
      // A heartbeat that was fresh and grew old while we held it: there is a newer one by now, most likely
      const isAsItWas = result === this.judge(said, places, nowMs - ageMs)
      return isAsItWas && ageMs < usableForMs(result, config.cacheMs)
    })
    if (held) return { result: this.judge(held, places, nowMs), isCached: true }
    const said = await this.cache.ask(address, () => this.ask(address))
    return { result: this.judge(said, places, clock.nowMs()), isCached: false }
  }

  /** Judged anew each time: a heartbeat grows old while it is held, and events have different places. */
  private judge({ sightings }: Said, places: readonly Coord[], nowMs: number): PresenceResult {
    if (!sightings) return 'unknown'
    const { toleranceParcels, maxAgeMs } = this.options.config
    return judgeSightings(sightings, { places, toleranceParcels, maxAgeMs, nowMs })
  }

  private async ask(address: string): Promise<Said> {
    try {
      return { sightings: await this.breaker.pass(() => this.call(address)) }
    } catch {
      return { sightings: undefined }
    }
  }

  private async call(address: string): Promise<readonly Sighting[]> {
    const { url, config, clock } = this.options
    const answer = await ask(
      { baseUrl: url, timeoutMs: config.timeoutMs, maxBytes: MAX_ANSWER_BYTES },
      { method: 'GET', path: `?id=${encodeURIComponent(address)}` },
    )
    const sightings =
      answer.status === 200 ? parseSightings(answer.json, { address, nowMs: clock.nowMs() }) : undefined
    if (!sightings) throw new NoAnswerError(answer.retryAfterMs)
    return sightings
  }
}
