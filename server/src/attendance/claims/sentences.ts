import { AppError, type ErrorCode } from '../../errors.ts'
import type { Event } from '../events/event-queries.ts'
import { assertOpen } from '../events/openness.ts'
import { CLAIM_MESSAGES } from './claim-messages.ts'
import { type RehearsedAttempt, refuseAsChosen, rehearsedState } from './rehearsed-refusals.ts'

/** What players read at a booth of an event; null where that cannot happen. */
export interface Sentences {
  readonly now: string
  readonly elsewhere: string | null
  readonly guest: string | null
  readonly again: string
  readonly preview: string
}

/** @param reason why no token can be had, as `availabilityJson` names it; null where one can be had */
export async function sentencesOf(
  event: Event,
  { reason, nowMs }: { readonly reason: string | null; readonly nowMs: number },
): Promise<Sentences> {
  const claimant = { address: '', isPreview: false, isGuest: false }
  const attempt = { event, claimant, nowMs, proofOfWorkBits: 0 }
  return {
    now: reason === null ? CLAIM_MESSAGES[rehearsedState(event)] : await whyClosed(reason, attempt),
    elsewhere: event.requires_presence ? await refusalOf('not_at_event', attempt) : null,
    guest: event.allows_guests ? null : await refusalOf('guest_refused', attempt),
    again: await refusalOf('already_claimed', attempt),
    preview: await refusalOf('preview_realm', attempt),
  }
}

/** The times of the event count, where it is closed by them. */
async function whyClosed(reason: string, attempt: RehearsedAttempt): Promise<string> {
  const code = reason === 'waiting_for_issuer' ? 'no_codes_loaded' : (reason as ErrorCode)
  const isByTimes = code.startsWith('event_') && code !== 'event_refused' && code !== 'event_held'
  return isByTimes
    ? messageOf(async () => assertOpen(attempt.event, attempt.nowMs))
    : refusalOf(code, attempt)
}

function refusalOf(code: ErrorCode, attempt: RehearsedAttempt): Promise<string> {
  return messageOf(() => refuseAsChosen(code, attempt))
}

async function messageOf(refuse: () => Promise<void>): Promise<string> {
  try {
    await refuse()
  } catch (error) {
    if (error instanceof AppError) return error.message
    throw error
  }
  return ''
}
