import type { Coord } from '@landpass/client/grid'
import { type Clock, steadyMs } from '../../clock.ts'
import type { PresenceResult } from './presence.ts'
import { type Finding, type Provider, type ProviderOptions, usableForMs } from './provider.ts'
import { ProviderCalls } from './provider-calls.ts'
import { judgeSightings, parseSightings, type Sighting } from './sightings.ts'

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
  private readonly calls: ProviderCalls<readonly Sighting[]>

  constructor(options: ProviderOptions) {
    this.options = options
    this.name = `peers ${new URL(options.url).host}`
    this.calls = new ProviderCalls({
      ...options,
      maxWeight: MAX_CACHED_PLAYERS,
      weigh: (sightings) => Math.max(sightings?.length ?? 0, 1),
      queryOf: (address) => `?id=${encodeURIComponent(address)}`,
      read: ({ status, json }, address) =>
        status === 200 ? parseSightings(json, { address, nowMs: heartbeatNowMs(options.clock) }) : undefined,
    })
  }

  async find(address: string, places: readonly Coord[]): Promise<Finding> {
    const { config, clock } = this.options
    const nowMs = heartbeatNowMs(clock)
    const cached = this.calls.findCached(address, (sightings, ageMs) => {
      const result = this.judge(sightings, places, nowMs)
      // If a heartbeat became too old in the cache, the service probably has a newer one
      const isUnchanged = result === this.judge(sightings, places, nowMs - ageMs)
      return isUnchanged && ageMs < usableForMs(result, config.cacheMs)
    })
    if (cached) return { result: this.judge(cached.value, places, nowMs), isCached: true }
    const { value } = await this.calls.ask(address)
    return { result: this.judge(value, places, heartbeatNowMs(clock)), isCached: false }
  }

  /** Not cached: the result depends on the age of the heartbeat and on the places of the event. */
  private judge(
    sightings: readonly Sighting[] | undefined,
    places: readonly Coord[],
    nowMs: number,
  ): PresenceResult {
    if (!sightings) return 'unknown'
    const { toleranceParcels, maxAgeMs } = this.options.config
    return judgeSightings(sightings, { places, toleranceParcels, maxAgeMs, nowMs })
  }
}

/**
 * The time with which heartbeats are compared. Providers send times of their own clocks, so after this machine's clock
 * was set back its time would be before all heartbeats, which would then prove nothing.
 */
function heartbeatNowMs(clock: Clock): number {
  return Math.max(clock.nowMs(), steadyMs(clock))
}
