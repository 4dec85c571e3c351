import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../clock.ts'
import { databaseUnavailable } from '../../db/statement-error.ts'
import { AppError, ERRORS, type ErrorCode, internalError } from '../../errors.ts'
import { proofRequired, wrongCaptcha } from '../captcha/captchas.ts'
import { playerBlocked } from '../events/blocked-players.ts'
import { eventHeld } from '../events/event-holds.ts'
import type { Event } from '../events/event-queries.ts'
import { assertOpen, eventCancelled, eventExpired, eventRefused } from '../events/openness.ts'
import { grantRequired } from '../grants/grants.ts'
import { isOwnEvent } from '../issuers/own/own-event-ids.ts'
import { previewRealm } from '../rehearsal/preview-realm.ts'
import { CLAIM_ERRORS } from './claim-errors.ts'
import { type Claimant, captchaMissing } from './claimant.ts'
import { alreadyClaimed, claimRefused, noFreeCode } from './claims.ts'
import { guestRefused } from './guest-rule.ts'
import { assertAtEvent } from './presence-rule.ts'

const MINUTE_S = MINUTE_MS / SECOND_MS

/** What a rehearsal can be told to answer: every code of the endpoint, and those of every endpoint. */
const CODES: readonly ErrorCode[] = [
  ...CLAIM_ERRORS,
  'bad_request',
  'request_timeout',
  'expectation_failed',
  'header_too_large',
  'server_busy',
  'internal_error',
]
const ALLOWED_CODES = `an error code that a claim can have: ${CODES.join(', ')}`

/** A claim in a rehearsal whose player is proven. */
export interface RehearsedAttempt {
  readonly event: Event
  readonly claimant: Claimant
  readonly nowMs: number
  readonly proofOfWorkBits: number
}

/**
 * Refuses a rehearsed claim as a real claim is refused in that situation, with the same sentence and data.
 *
 * @param chosen the code that the builder of the scene asked for
 * @throws {AppError} always: the chosen refusal, or `invalid_parameter` for a code that no claim has
 */
export async function refuseAsChosen(chosen: string, attempt: RehearsedAttempt): Promise<never> {
  const code = CODES.find((known) => known === chosen)
  if (code === undefined) {
    throw new AppError('invalid_parameter', `rehearse must be ${ALLOWED_CODES}.`, {
      parameter: 'rehearse',
      value: 'a string that is not shown',
      allowed: ALLOWED_CODES,
    })
  }
  throw (await SITUATIONS[code]?.(attempt)) ?? inGeneralWords(code)
}

/** Gives the refusal, or lets the rule throw it. */
type Situation = (attempt: RehearsedAttempt) => AppError | void | Promise<void> | Promise<AppError>

const SITUATIONS: { readonly [Code in ErrorCode]?: Situation } = {
  event_refused: () => eventRefused(),
  event_cancelled: () => eventCancelled(),
  event_disabled: ({ event, nowMs }) => assertOpen({ ...event, enabled: false }, nowMs),
  event_not_open: ({ event, nowMs }) =>
    assertOpen({ ...event, enabled: true, distribution_start_at_ms: nowMs + HOUR_MS }, nowMs),
  event_closed: ({ event, nowMs }) =>
    assertOpen(
      {
        ...event,
        enabled: true,
        distribution_start_at_ms: null,
        distribution_end_at_ms: nowMs - HOUR_MS,
      },
      nowMs,
    ),
  event_expired: ({ event }) => eventExpired(event),
  captcha_required: () => captchaMissing(),
  wrong_captcha: () => wrongCaptcha(2),
  proof_of_work_required: ({ proofOfWorkBits }) => proofRequired(Math.max(proofOfWorkBits, 1)),
  event_held: (attempt) => givingBack(attempt, eventHeld(MINUTE_S)),
  preview_realm: () => previewRealm(),
  not_at_event: (attempt) => standing('absent', attempt),
  presence_unavailable: (attempt) => standing('unknown', attempt),
  player_blocked: (attempt) => givingBack(attempt, playerBlocked()),
  guest_refused: (attempt) => givingBack(attempt, guestRefused()),
  grant_required: (attempt) => givingBack(attempt, grantRequired()),
  already_claimed: ({ event }) => alreadyClaimed({ state: rehearsedState(event) }),
  no_codes_left: ({ event }) => noFreeCode(event, true),
  no_codes_loaded: ({ event }) => noFreeCode(event, false),
  claim_refused: ({ event }) => claimRefused(event, 'rehearsal'),
  too_many_requests: () => inGeneralWords('too_many_requests', { retry_after_s: MINUTE_S }),
  server_busy: () => inGeneralWords('server_busy', { retry_after_s: MINUTE_S }),
  database_unavailable: () => withoutCause(databaseUnavailable('a rehearsal asked for this answer')),
  internal_error: () => internalError(),
}

/** The state of a new claim in a rehearsal. Tokens that are made here are there at once. */
export function rehearsedState({ event_id: eventId }: Event): 'minting' | 'minted' {
  return isOwnEvent(eventId) ? 'minted' : 'minting'
}

/** A refusal for which the real rule makes a used captcha pending again. */
async function givingBack({ claimant }: RehearsedAttempt, refusal: AppError): Promise<AppError> {
  await claimant.giveBack?.()
  return refusal
}

/** The log has real failures of the database alone: those have a cause. */
function withoutCause({ code, message, data }: AppError): AppError {
  return new AppError(code, message, data)
}

function standing(where: 'absent' | 'unknown', { event, claimant }: RehearsedAttempt): Promise<void> {
  return assertAtEvent(
    { ...event, requires_presence: true },
    { ...claimant, isPreview: false },
    async () => where,
  )
}

/** Refusals that have other sentences from case to case get that of docs/errors.md. */
function inGeneralWords(code: ErrorCode, data: Readonly<Record<string, unknown>> = {}): AppError {
  return new AppError(code, `${ERRORS[code].meaning} ${ERRORS[code].next}`, data)
}

/** The same refusal, marked as one of a rehearsal. Other failures stay as they are. */
export function asRehearsal(error: unknown): unknown {
  if (!(error instanceof AppError)) return error
  const marked = new AppError(error.code, error.message, { ...error.data, rehearsal: true })
  marked.cause = error.cause
  return marked
}

export function isRehearsal(error: unknown): boolean {
  return error instanceof AppError && error.data.rehearsal === true
}
