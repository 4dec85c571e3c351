import { LandpassError } from '@landpass/client'
import { isOnline } from '../api/connection.ts'
import { findText, text } from './texts.ts'

/** The text for a failure: cause and next step, in the page's language, by the server's error code. */
export function refusalText(error: unknown): string {
  if (!(error instanceof LandpassError)) return text('error.internal_error')
  if (error.code === 'offline') return text(isOnline.value ? 'common.unreachable' : 'common.offline')
  // A proxy between page and server answered.
  if (error.code === 'unreadable_answer') return text('common.unreadable_answer')
  const words = findText(`error.${error.code}`) ?? error.message
  const waitS = error.retryAfterS ?? 0
  return waitS < LONG_WAIT_S
    ? words
    : `${words} ${text('error.wait_minutes', { count: Math.ceil(waitS / 60) })}`
}

/** From this wait on, the text names it. */
const LONG_WAIT_S = 120

/** Why the map may be out of date: the reader is offline, or the server does not answer. */
export function outdatedText(): string {
  return text(isOnline.value ? 'map.unreachable' : 'map.offline')
}
