import type { ErrorCode } from '../../errors.ts'
import { SIGNATURE_ERRORS } from '../signed-fetch/signature-errors.ts'

/** Every code that the endpoint of claims itself can be refused with. */
export const CLAIM_ERRORS = [
  'invalid_parameter',
  'invalid_body',
  'body_too_large',
  ...SIGNATURE_ERRORS,
  'captcha_required',
  'wrong_captcha',
  'proof_of_work_required',
  'event_refused',
  'event_cancelled',
  'event_disabled',
  'event_not_open',
  'event_closed',
  'event_expired',
  'not_at_event',
  'player_blocked',
  'guest_refused',
  'grant_required',
  'preview_realm',
  'event_not_found',
  'already_claimed',
  'no_codes_left',
  'no_codes_loaded',
  'claim_refused',
  'too_many_requests',
  'event_held',
  'presence_unavailable',
  'attendance_not_configured',
  'database_unavailable',
] as const satisfies readonly ErrorCode[]
