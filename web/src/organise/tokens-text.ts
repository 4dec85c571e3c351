import { LandpassError } from '@landpass/client'
import { text } from '../texts/texts.ts'

/**
 * What the server said of a number of tokens that it refused: too large, or smaller than what the event has by now. Undefined
 * where it named no number.
 *
 * @param from the smallest number that the form takes
 */
export function refusedTokensText(error: unknown, from: number): string | undefined {
  const { minimum, maximum: to } = error instanceof LandpassError ? error.data : {}
  if (typeof minimum === 'number') return text('organise.change.tokens_fault', { count: minimum })
  return typeof to === 'number' ? text('organise.make.tokens_range', { from, to }) : undefined
}
