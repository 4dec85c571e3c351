import { LandpassError } from '@landpass/client'
import { FeedError } from '@landpass/client/feed'
import { isOnline } from '../api/connection.ts'
import { formatWait } from './format.ts'
import { findText, text } from './texts.ts'

/** The text for a failure: cause and next step, in the page's language. Other texts, or a countdown, say how long to wait. */
export function refusalText(error: unknown): string {
  if (error instanceof FeedError) return text('common.foreign_answer')
  if (!(error instanceof LandpassError)) return text('error.internal_error')
  const { code, status } = error
  if (code === 'offline') return text(isOnline.value ? 'common.unreachable' : 'common.offline')
  if (code === 'unreadable_answer') return unreadableText(status)
  const words = findText(`error.${code}`) ?? error.message
  const waitS = error.retryAfterS ?? 0
  return waitS < LONG_WAIT_S ? words : `${words} ${text('error.wait', { time: formatWait(waitS) })}`
}

/** From this wait on, the text names it. */
const LONG_WAIT_S = 120

/** Like {@link refusalText}, and says how many seconds the reader has to wait after too many requests. */
export function failureText(error: unknown): string {
  if (!(error instanceof LandpassError)) return refusalText(error)
  const { retryAfterS } = error
  if (retryAfterS === undefined || !isTooManyRequests(error)) return refusalText(error)
  return text('common.too_many_requests', { seconds: retryAfterS })
}

/** A refusal of the server, or of a proxy before it. Other refusals with this status have texts of their own. */
function isTooManyRequests({ code, status }: LandpassError): boolean {
  return code === 'too_many_requests' || (code === 'unreadable_answer' && status === 429)
}

/** For an answer that is not of a Landpass server: a proxy whose server is away, or a network that answers itself. */
function unreadableText(status: number): string {
  if (status === 429) return text('error.too_many_requests')
  // Not a number for a sentence: it has no separators.
  if (status >= 500) return text('common.server_failed', { status: String(status) })
  return text('common.foreign_answer')
}

/** Why the map may be out of date. @param error why it could not be updated */
export function outdatedText(error: unknown): string {
  if (!(error instanceof LandpassError) || error.code !== 'offline')
    return `${failureText(error)} ${text('map.outdated')}`
  return text(isOnline.value ? 'map.unreachable' : 'map.offline')
}
