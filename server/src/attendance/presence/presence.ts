import type { Coord } from '@landpass/client/grid'

/**
 * Where a player is, as far as the configured providers can tell:
 * `present` on one of the places, `absent` (elsewhere or not in the world), or `unknown` (nobody could tell).
 */
export type PresenceResult = 'present' | 'absent' | 'unknown'

/** What we need of those who know where players are. */
export interface Presence {
  /** Whether the player stands on one of the places, by the policy of `PRESENCE_POLICY`. Never throws. */
  find(address: string, places: readonly Coord[]): Promise<PresenceResult>
}
