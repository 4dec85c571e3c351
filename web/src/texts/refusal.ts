import { LandpassError } from '@landpass/client'
import { findText, text } from './texts.ts'

/** What to tell the reader of a failure: cause and next step, in the page's language, by the server's code. */
export function refusalText(error: unknown): string {
  if (!(error instanceof LandpassError)) return text('error.internal_error')
  if (error.code === 'offline') return text('common.offline')
  // Somebody between us and the server answered.
  if (error.code === 'unreadable_answer') return text('common.unreadable_answer')
  return findText(`error.${error.code}`) ?? error.message
}
