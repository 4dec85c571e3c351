import { LandpassError } from '@landpass/client'
import { text } from '../texts/texts.ts'

/** The most tokens of an event that is made here, as on the server (a test compares the two). */
export const MAX_TOKENS = 1_000_000

/**
 * How many tokens an event can get, where another number was typed.
 *
 * @param from the smallest number that the form takes
 * @param error the server's refusal, which knows a later smallest number
 */
export function tokensFaultText(from: number, error?: unknown): string {
  const { minimum } = error instanceof LandpassError ? error.data : {}
  return text('organise.make.tokens_range', {
    from: typeof minimum === 'number' ? minimum : from,
    to: MAX_TOKENS,
  })
}
