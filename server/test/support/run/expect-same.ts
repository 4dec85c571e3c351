import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'

/**
 * `expect(actual).toEqual(expected)` for large values. `isDeepStrictEqual` of Node.js is several times faster and compares
 * first. Only if it finds a difference, `toEqual` compares again and shows it.
 */
export function expectSame(actual: unknown, expected: unknown, about?: string): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual, about).toEqual(expected)
}
