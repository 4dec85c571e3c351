import type { Coord } from '@landpass/client/grid'
import { type Clock, SECOND_MS } from '../../clock.ts'
import type { PresenceConfig } from '../../config/config.ts'
import type { PresenceResult } from './presence.ts'

/** One of those who know where players are. */
export interface Provider {
  /** Style and host, for measurements: `peers archipelago-ea-stats.decentraland.org`. */
  readonly name: string
  find(address: string, places: readonly Coord[]): Promise<Finding>
}

export interface Finding {
  readonly result: PresenceResult
  /** Whether it was known already, without a call. */
  readonly isCached: boolean
}

export interface ProviderOptions {
  readonly url: string
  readonly config: PresenceConfig
  readonly clock: Clock
}

/** A player who just arrived is not refused for longer: positions arrive late enough by themselves. */
const ABSENT_FOR_MS = 2 * SECOND_MS
/** One failed call must not make the next player wait or fail, once the provider is back. */
const UNKNOWN_FOR_MS = SECOND_MS

/**
 * How long a result may be taken from what a provider said earlier.
 *
 * @example
 * usableForMs('present', 5_000) // 5000
 * usableForMs('absent', 5_000) // 2000
 */
export function usableForMs(result: PresenceResult, cacheMs: number): number {
  if (result === 'present') return cacheMs
  return Math.min(cacheMs, result === 'absent' ? ABSENT_FOR_MS : UNKNOWN_FOR_MS)
}
