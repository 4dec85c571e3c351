import Type from 'typebox'
import { AppError } from '../../errors.ts'
import type { AttendanceContext } from '../attendance-context.ts'
import { askIssuer } from '../issuer/ask-issuer.ts'
import type { IssuerEvent } from '../issuer/issuer.ts'
import type { EventName } from './event-name.ts'
import { getEvent } from './event-queries.ts'

/** Who proves to be the organiser: everywhere the same field, whose value is never said again. */
export const editCodeField = Type.String({
  minLength: 1,
  maxLength: 64,
  'x-allowed': "the edit code from the issuer's e-mail, as text",
  'x-withheld': true,
  description:
    "The private edit code from the issuer's e-mail. Judged by the issuer each time, never stored.",
})

/** What every call with an edit code can answer besides. */
export const ORGANISER_ERRORS = [
  'invalid_parameter',
  'invalid_body',
  'body_too_large',
  'wrong_edit_code',
  'too_many_requests',
  'too_many_guesses',
  'issuer_refused',
  'issuer_unavailable',
  'attendance_not_configured',
  'database_unavailable',
] as const

/** The issuer's number, which a UUID of ours stands for too. @throws {AppError} `event_not_found` */
export async function eventIdOf({ db }: AttendanceContext, name: EventName): Promise<number> {
  return 'eventId' in name ? name.eventId : (await getEvent(db, name)).event_id
}

/**
 * The event at the issuer, for somebody who knows its edit code. A wrong code, an event that the issuer does not know
 * and the code of another event are answered alike, and take the same two questions, asked side by side.
 *
 * @throws {AppError} `wrong_edit_code`, `too_many_guesses`, or that the issuer fails
 */
export async function judgeOrganiser(
  { guard, issuer }: AttendanceContext,
  eventId: number,
  editCode: string,
): Promise<IssuerEvent> {
  let found: IssuerEvent | undefined
  const isRight = await guard.judge(eventId, () =>
    askIssuer(async () => {
      const [event, isEditCode] = await Promise.all([
        issuer.findEvent(eventId),
        issuer.isEditCode(eventId, editCode),
      ])
      found = event
      return isEditCode && event !== undefined
    }),
  )
  if (isRight && found) return found
  throw wrongEditCode()
}

/** Like {@link judgeOrganiser}, for a registered event of which no news is needed: one question. */
export async function judgeEditCode(
  { db, clock, guard, issuer }: AttendanceContext,
  eventId: number,
  editCode: string,
): Promise<void> {
  const about = { db, clock, eventId }
  const isRight = await guard.judge(eventId, () =>
    askIssuer(() => issuer.isEditCode(eventId, editCode), about),
  )
  if (!isRight) throw wrongEditCode()
}

function wrongEditCode(): AppError {
  return new AppError(
    'wrong_edit_code',
    "The issuer does not know this event id together with this edit code. Both are in the issuer's e-mail.",
  )
}
