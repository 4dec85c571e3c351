import type { Coord } from '@landpass/client/grid'
import { SECOND_MS } from '../../clock.ts'
import { isObject } from '../../json-object.ts'
import { combineResults } from './policy.ts'
import type { PresenceResult } from './presence.ts'

/** One entry of a list of connected players; `unreadable` when its fields are missing or malformed. */
export type Sighting = SeenAt | 'unreadable'

export interface SeenAt {
  readonly at: Coord
  /** Time of the last heartbeat; not later than the time of the answer. */
  readonly lastSeenMs: number
}

/** How far the clock of a provider may be ahead of ours. */
export const CLOCK_LEAD_MS = 30 * SECOND_MS
/** Metres along a side of a parcel; positions in answers are in metres. */
const PARCEL_METRES = 16

/**
 * Reads the answer of the statistics service, `{ ok: true, peers: [{ id, address, lastPing, parcel, position }] }`:
 * all entries about one player. Undefined for any other answer.
 *
 * @example
 * const peer = { id: '0xaa', address: '0xaa', lastPing: 1_000, position: [838.2, 1.1, -151.7] }
 * parseSightings({ ok: true, peers: [peer] }, { address: '0xaa', nowMs: 2_000 })
 * // [{ at: { x: 52, y: -10 }, lastSeenMs: 1_000 }]
 */
export function parseSightings(
  json: unknown,
  { address, nowMs }: { address: string; nowMs: number },
): readonly Sighting[] | undefined {
  if (!isObject(json) || json.ok !== true || !Array.isArray(json.peers)) return undefined
  const peers: readonly unknown[] = json.peers
  return peers.flatMap((peer): readonly Sighting[] => {
    if (!isObject(peer)) return ['unreadable']
    const names = [peer.id, peer.address].filter((name) => name !== undefined && name !== null)
    // An entry without a name could be about this player
    if (names.length === 0 || !names.every((name) => typeof name === 'string')) return ['unreadable']
    return names.some((name) => name.toLowerCase() === address) ? [parseSighting(peer, nowMs)] : []
  })
}

export interface SightingRules {
  readonly places: readonly Coord[]
  readonly toleranceParcels: number
  readonly maxAgeMs: number
  readonly nowMs: number
}

/** Whether a player with these entries stands on one of the places now. Without an entry: not in the world. */
export function judgeSightings(sightings: readonly Sighting[], rules: SightingRules): PresenceResult {
  if (sightings.length === 0) return 'absent'
  return combineResults(
    'any',
    sightings.map((sighting) => judge(sighting, rules)),
  )
}

/**
 * Whether a parcel is one of the places, or at most `toleranceParcels` away from one, diagonally too.
 *
 * @example
 * isNear({ x: 1, y: 1 }, [{ x: 0, y: 0 }], 1) // true
 */
export function isNear({ x, y }: Coord, places: readonly Coord[], toleranceParcels: number): boolean {
  return places.some((place) => Math.max(Math.abs(place.x - x), Math.abs(place.y - y)) <= toleranceParcels)
}

function judge(
  sighting: Sighting,
  { places, toleranceParcels, maxAgeMs, nowMs }: SightingRules,
): PresenceResult {
  if (sighting === 'unreadable') return 'unknown'
  const isFresh = nowMs - sighting.lastSeenMs <= maxAgeMs
  return isFresh && isNear(sighting.at, places, toleranceParcels) ? 'present' : 'absent'
}

function parseSighting(peer: Readonly<Record<string, unknown>>, nowMs: number): Sighting {
  const at = parseParcel(peer.parcel ?? undefined, peer.position)
  const lastSeenMs = peer.lastPing
  if (!at || typeof lastSeenMs !== 'number' || !Number.isFinite(lastSeenMs)) return 'unreadable'
  // A time in the future does not prove where the player is now
  if (lastSeenMs > nowMs + CLOCK_LEAD_MS) return 'unreadable'
  // A clock that is ahead must not make the heartbeat valid for longer
  return { at, lastSeenMs: Math.min(lastSeenMs, nowMs) }
}

function parseParcel(parcel: unknown, position: unknown): Coord | undefined {
  if (parcel !== undefined) {
    const [x, y] = numbersOf(parcel, 2) ?? []
    return Number.isSafeInteger(x) && Number.isSafeInteger(y) ? { x: x!, y: y! } : undefined
  }
  const [metresEast, , metresNorth] = numbersOf(position, 3) ?? []
  if (metresEast === undefined || metresNorth === undefined) return undefined
  return { x: Math.floor(metresEast / PARCEL_METRES), y: Math.floor(metresNorth / PARCEL_METRES) }
}

function numbersOf(value: unknown, length: number): readonly number[] | undefined {
  if (!Array.isArray(value) || value.length !== length) return undefined
  return value.every((one) => typeof one === 'number' && Number.isFinite(one)) ? value : undefined
}
