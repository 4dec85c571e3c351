import type { Coord } from '@landpass/client/grid'
import { type Clock, SECOND_MS } from '../../clock.ts'
import type { PresenceConfig } from '../../config/config.ts'
import type { PresenceResult } from './presence.ts'

/** A service that reports where players are. */
export interface Provider {
  /** Style and host, for metrics: `peers archipelago-ea-stats.decentraland.org`. */
  readonly name: string
  find(address: string, places: readonly Coord[]): Promise<Finding>
}

export interface Finding {
  readonly result: PresenceResult
  /** Whether the result came from the cache, without a call. */
  readonly isCached: boolean
}

export interface ProviderOptions {
  readonly url: string
  readonly config: PresenceConfig
  readonly clock: Clock
}

/** Short, so that a player who has just arrived is soon found: providers report positions late anyway. */
const ABSENT_FOR_MS = 2 * SECOND_MS
/** Short, so that claims succeed soon after the provider works again. */
const UNKNOWN_FOR_MS = SECOND_MS

/**
 * How long a cached answer may be used for a result, in milliseconds.
 *
 * @example
 * usableForMs('present', 5_000) // 5000
 * usableForMs('absent', 5_000) // 2000
 */
export function usableForMs(result: PresenceResult, cacheMs: number): number {
  if (result === 'present') return cacheMs
  return Math.min(cacheMs, result === 'absent' ? ABSENT_FOR_MS : UNKNOWN_FOR_MS)
}
