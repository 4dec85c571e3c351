import { plainText } from './pasted-text.ts'

/**
 * A whole number of at most nine digits, as people type and paste it; undefined for anything else.
 *
 * @example
 * readCount(' １００ ') // 100
 */
export function readCount(typed: string): number | undefined {
  const digits = plainText(typed).trim()
  return /^\d{1,9}$/.test(digits) ? Number(digits) : undefined
}
