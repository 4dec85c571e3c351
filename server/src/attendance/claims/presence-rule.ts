import type { Coord } from '@landpass/client/grid'
import { AppError } from '../../errors.ts'
import { readCoordinates } from '../events/coordinates.ts'
import type { Event } from '../events/event-queries.ts'
import type { PresenceResult } from '../presence/presence.ts'
import type { Claimant } from './claimant.ts'

/** Whether a player stands on one of the places. Never throws. */
export type FindPlayer = (address: string, places: readonly Coord[]) => Promise<PresenceResult>

/**
 * The rule of presence: whoever claims stands in the real world, and on one of the event's places where the event asks
 * for that. What the proof cost the player comes back only where nobody can tell where they are.
 *
 * @throws {AppError} `preview_realm`, `not_at_event`, `presence_unavailable`
 */
export async function assertAtEvent(
  event: Event,
  { address, isPreview, giveBack }: Claimant,
  findPlayer: FindPlayer,
): Promise<void> {
  if (isPreview) {
    throw new AppError(
      'preview_realm',
      'This scene runs in preview, where nobody can tell that you are in the world. Only a deployed scene can claim.',
    )
  }
  if (!event.requires_presence) return
  const result = await findPlayer(address, readCoordinates(event.coordinates))
  if (result === 'present') return
  if (result === 'absent') {
    throw new AppError(
      'not_at_event',
      `You are not at the event: stand on ${placesText(event.coordinates)} and try again after a few seconds.`,
      { coordinates: event.coordinates },
    )
  }
  await giveBack?.()
  throw new AppError(
    'presence_unavailable',
    'Nobody can tell just now where you are in the world. It cost you nothing: please try again in a moment.',
  )
}

const SHOWN_PLACES = 3

/** The first few of them: a booth shows the sentence on a small panel. */
function placesText(coordinates: string): string {
  const places = coordinates.split(';')
  const shown = places.slice(0, SHOWN_PLACES).join(' or ')
  return places.length > SHOWN_PLACES ? `${shown} or one of ${places.length - SHOWN_PLACES} others` : shown
}
