import { makePlayer, type SimulatedPlayer as Player } from '@landpass/simulators/player/player'
import type { Call } from './calls.ts'

export type { RequestToSign, SimulatedPlayer as Player } from '@landpass/simulators/player/player'

/** How far in the future the requests of a crowd are dated. */
const AHEAD_MS = 45_000

/** Makes players, the same for the same seed and name. Takes some tenths of a millisecond each. */
export function makePlayers(seed: number, name: string, count: number): Player[] {
  return Array.from({ length: count }, (_, i) => makePlayer(`${seed} ${name} ${i}`))
}

/** A claim as a new booth sends it: signed, with a body that the signature covers. */
export function signedClaim(player: Player, uuid: string, atMs = Date.now(), body = '{}'): Call {
  const path = `/claim/${uuid}`
  const headers = player.sign({ method: 'POST', path, body, atMs })
  return { method: 'POST', path, headers: { ...headers, 'content-type': 'application/json' }, body }
}

/**
 * The claims of many players, signed before the first is sent. A signature is valid for 60 s before and after its time,
 * and the last request is sent later than that: so the requests are dated in the future.
 */
export function signedClaims(players: readonly Player[], uuid: string): Call[] {
  const atMs = Date.now() + AHEAD_MS
  return players.map((player) => signedClaim(player, uuid, atMs))
}
