import { LandpassError } from '@landpass/client'
import { text } from '../texts/texts.ts'

/**
 * What the server said of a number of tokens that is too large; undefined where it named no maximum.
 *
 * @param from the smallest number that the form takes
 */
export function tooManyTokensText(error: unknown, from: number): string | undefined {
  const to = error instanceof LandpassError ? error.data.maximum : undefined
  return typeof to === 'number' ? text('organise.make.tokens_range', { from, to }) : undefined
}
