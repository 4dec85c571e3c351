/**
 * Compares estate ids as numbers, for sorting.
 *
 * @example
 * compareEstateIds('9', '10') // -1
 */
export function compareEstateIds(a: string, b: string): number {
  return Math.sign(a.length - b.length) || (a < b ? -1 : a > b ? 1 : 0)
}
