/** Classes into which land is counted, each with its keys in ascending order. */

export const DISTANCE_CLASSES = ['0', '1-2', '3-5', '6-10', 'above', 'none'] as const
export const SIZE_CLASSES = ['1', '2-3', '4-9', '10-24', '25+'] as const

/** @param distance in parcels; below 0: unknown */
export function distanceClass(distance: number): (typeof DISTANCE_CLASSES)[number] {
  if (distance < 0) return 'none'
  if (distance === 0) return '0'
  return distance <= 2 ? '1-2' : distance <= 5 ? '3-5' : distance <= 10 ? '6-10' : 'above'
}

/** @param size in parcels, from 1 */
export function sizeClass(size: number): (typeof SIZE_CLASSES)[number] {
  if (size === 1) return '1'
  return size <= 3 ? '2-3' : size <= 9 ? '4-9' : size <= 24 ? '10-24' : '25+'
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
