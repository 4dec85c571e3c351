import type { Coord } from '@landpass/client/grid'

/**
 * Where a player is, as the configured providers report it: `present` on one of the places, `absent` (elsewhere or not
 * in the world), or `unknown` (no provider could report it).
 */
export type PresenceResult = 'present' | 'absent' | 'unknown'

/** Finds out whether players are at an event. */
export interface Presence {
  /** Whether the player stands on one of the places, by the policy of `PRESENCE_POLICY`. Never throws. */
  find(address: string, places: readonly Coord[]): Promise<PresenceResult>
}
