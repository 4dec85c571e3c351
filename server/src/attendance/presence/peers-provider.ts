import type { Coord } from '@landpass/client/grid'
import { type Clock, steadyMs } from '../../clock.ts'
import { ask } from '../../outbound.ts'
import { AnswerCache } from './answer-cache.ts'
import { CircuitBreaker, NoAnswerError } from './circuit-breaker.ts'
import type { PresenceResult } from './presence.ts'
import { type Finding, type Provider, type ProviderOptions, usableForMs } from './provider.ts'
import { judgeSightings, parseSightings, type Sighting } from './sightings.ts'

/** The entries about one player; `sightings` is undefined when the provider gave no answer. */
interface PeersAnswer {
  readonly sightings: readonly Sighting[] | undefined
}

/** One player takes less than a kilobyte; a provider that ignores `?id=` answers with all players. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024
/** About 200 bytes each. */
const MAX_CACHED_PLAYERS = 20_000

/**
 * Requests one player from the statistics service of the main world: `GET {url}?id=0x…`, in lower case because the
 * service compares exactly. The position comes from heartbeats of the player's client, the time of the last heartbeat
 * from the service. This class checks the age, because the service lists a player while the connection is open.
 */
export class PeersProvider implements Provider {
  readonly name: string
  private readonly options: ProviderOptions
  private readonly breaker: CircuitBreaker
  private readonly cache: AnswerCache<PeersAnswer>

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
    const nowMs = heartbeatNowMs(clock)
    const cached = this.cache.find(address, (answer, ageMs) => {
      const result = this.judge(answer, places, nowMs)
      // If a heartbeat became too old in the cache, the service probably has a newer one
      const isUnchanged = result === this.judge(answer, places, nowMs - ageMs)
      return isUnchanged && ageMs < usableForMs(result, config.cacheMs)
    })
    if (cached) return { result: this.judge(cached, places, nowMs), isCached: true }
    const answer = await this.cache.ask(address, () => this.ask(address))
    return { result: this.judge(answer, places, heartbeatNowMs(clock)), isCached: false }
  }

  /** Not cached: the result depends on the age of the heartbeat and on the places of the event. */
  private judge({ sightings }: PeersAnswer, places: readonly Coord[], nowMs: number): PresenceResult {
    if (!sightings) return 'unknown'
    const { toleranceParcels, maxAgeMs } = this.options.config
    return judgeSightings(sightings, { places, toleranceParcels, maxAgeMs, nowMs })
  }

  private async ask(address: string): Promise<PeersAnswer> {
    try {
      return { sightings: await this.breaker.run(() => this.call(address)) }
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
      answer.status === 200
        ? parseSightings(answer.json, { address, nowMs: heartbeatNowMs(clock) })
        : undefined
    if (!sightings) throw new NoAnswerError(answer.retryAfterMs)
    return sightings
  }
}

/**
 * The time with which heartbeats are compared. Providers send times of their own clocks, so after this machine's clock
 * was set back its time would be before all heartbeats, which would then prove nothing.
 */
function heartbeatNowMs(clock: Clock): number {
  return Math.max(clock.nowMs(), steadyMs(clock))
}
