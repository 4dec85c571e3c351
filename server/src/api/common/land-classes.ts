/** Classes into which land is counted, each with its keys in ascending order. */

/** Both limits belong to a class. */
export type Class = readonly [key: string, min: number, max: number]

/** Distances in parcels; -1 stands for one that is not known. */
export const DISTANCE_CLASSES: readonly Class[] = [
  ['0', 0, 0],
  ['1-2', 1, 2],
  ['3-5', 3, 5],
  ['6-10', 6, 10],
  ['above', 11, Infinity],
  ['none', -1, -1],
]
/** Sizes in parcels. */
export const SIZE_CLASSES: readonly Class[] = [
  ['1', 1, 1],
  ['2-3', 2, 3],
  ['4-9', 4, 9],
  ['10-24', 10, 24],
  ['25+', 25, Infinity],
]

/** Which of the classes a number is of. */
export function classNumber(classes: readonly Class[], number: number): number {
  let at = 0
  while (number < classes[at]![1] || number > classes[at]![2]) at += 1
  return at
}

const STEPS = [1, 2, 5, 10] as const

/**
 * The number of the class of a price, ascending. The bounds of classes are 0, and 1, 2 and 5 times the powers of ten; the lower one
 * belongs to the class.
 *
 * @param price decimal text in its shortest form
 */
export function priceClass(price: string): number {
  const point = price.indexOf('.')
  const digits = point < 0 ? price.length : point
  const lead = Number(price[0])
  if (lead === 0) return 0
  return 1 + (digits - 1) * 3 + (lead < 2 ? 0 : lead < 5 ? 1 : 2)
}

/**
 * The bounds of a class of prices, as text.
 *
 * @example
 * priceClassKey(priceClass('1999.5')) // '1000-2000'
 * priceClassKey(priceClass('0.7')) // '0-1'
 */
export function priceClassKey(number: number): string {
  if (number === 0) return '0-1'
  const step = (number - 1) % 3
  const zeros = '0'.repeat((number - 1) / 3)
  return `${STEPS[step]}${zeros}-${STEPS[step + 1]}${zeros}`
}
