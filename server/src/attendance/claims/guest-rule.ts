import { AppError } from '../../errors.ts'
import type { Event } from '../events/event-queries.ts'
import type { Claimant } from './claimant.ts'

/**
 * The rule of guests: a guest has an address for one visit, and loses the token with it.
 *
 * @throws {AppError} `guest_refused` where the event does not allow guests
 */
export function assertNoGuest(
  { allows_guests }: Pick<Event, 'allows_guests'>,
  { isGuest }: Pick<Claimant, 'isGuest'>,
): void {
  if (isGuest && !allows_guests) throw guestRefused()
}

export function guestRefused(): AppError {
  return new AppError(
    'guest_refused',
    'You play as a guest, and guests lose their token when they leave. Sign in with a wallet, then claim again.',
  )
}
