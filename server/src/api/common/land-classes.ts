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

/**
 * The class of a price: from its lower bound to below the next one. Bounds are 0, and 1, 2 and 5 times the powers of ten.
 *
 * @param price decimal text in its shortest form
 * @example
 * priceClass('1999.5') // '1000-2000'
 * priceClass('0.7') // '0-1'
 */
export function priceClass(price: string): string {
  const [whole = ''] = price.split('.')
  if (whole === '0') return '0-1'
  const zeros = '0'.repeat(whole.length - 1)
  const lead = Number(whole[0])
  return lead === 1 ? `1${zeros}-2${zeros}` : lead < 5 ? `2${zeros}-5${zeros}` : `5${zeros}-1${zeros}0`
}
