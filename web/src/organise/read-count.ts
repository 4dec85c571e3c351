import { readNumber } from '../texts/typed-number.ts'
import { plainText } from './pasted-text.ts'

/**
 * A whole number of at most nine digits, as people type and paste it in a locale, also with separators of thousands;
 * undefined for anything else.
 *
 * @example
 * readCount(' １００ ', 'en') // 100
 * readCount('1.000', 'es') // 1000
 */
export function readCount(typed: string, locale: string): number | undefined {
  const digits = readNumber(plainText(typed), locale)
  return digits !== undefined && /^\d{1,9}$/.test(digits) ? Number(digits) : undefined
}
