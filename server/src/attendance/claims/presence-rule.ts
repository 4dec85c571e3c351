import type { Coord } from '@landpass/client/grid'
import { AppError } from '../../errors.ts'
import { readCoordinates } from '../events/coordinates.ts'
import type { Event } from '../events/event-queries.ts'
import type { PresenceResult } from '../presence/presence.ts'
import { previewRealm } from '../rehearsal/preview-realm.ts'
import type { Claimant } from './claimant.ts'

/** Whether a player is on one of the places. Never throws. */
export type FindPlayer = (address: string, places: readonly Coord[]) => Promise<PresenceResult>

/**
 * The rule of presence: the player is not in a preview and, if the event requires presence, is on one of its places. When
 * the presence is unknown, a used captcha becomes pending again.
 *
 * @throws {AppError} `preview_realm`, `not_at_event`, `presence_unavailable`
 */
export async function assertAtEvent(
  event: Event,
  { address, isPreview, giveBack }: Claimant,
  findPlayer: FindPlayer,
): Promise<void> {
  if (isPreview) throw previewRealm()
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
    'Your position in the world cannot be checked now. Nothing was used up; please try again in a minute.',
  )
}

const SHOWN_PLACES = 3

/** Only the first few places, because a booth shows the sentence on a small panel. */
function placesText(coordinates: string): string {
  const places = coordinates.split(';')
  const shown = places.slice(0, SHOWN_PLACES).join(' or ')
  return places.length > SHOWN_PLACES ? `${shown} or one of ${places.length - SHOWN_PLACES} others` : shown
}
