import type { Place } from '../map/map-types.ts'

/** Two whole numbers with a comma, semicolon or space between them, in brackets or not. */
const PLACE = /^[([]?\s*([+-]?\d{1,6})\s*[,;、\s]\s*([+-]?\d{1,6})\s*[)\]]?$/
const ADDRESS = /^0x[0-9a-f]{40}$/
/** Characters that people type as a minus and that NFKC does not change into one. */
const MINUS = /[‐‑‒–—−]/g

/**
 * Coordinates as people type them, or undefined. The server reads the same forms (docs/search.md); this shows them at
 * once, and offline.
 *
 * @example
 * findTypedPlace('( 12; −34 )') // { x: 12, y: -34 }
 * findTypedPlace('12') // undefined
 */
export function findTypedPlace(text: string): Place | undefined {
  const [, x, y] = PLACE.exec(text.normalize('NFKC').replace(MINUS, '-').trim()) ?? []
  // Plus 0, so that a typed -0 becomes 0.
  return x === undefined ? undefined : { x: Number(x) + 0, y: Number(y) + 0 }
}

/**
 * An address in lower case, or undefined. Letter case and spaces around it are ignored.
 *
 * @example
 * findTypedAddress(' 0X00000000000000000000000000000000000000AA') // '0x00000000000000000000000000000000000000aa'
 */
export function findTypedAddress(text: string): string | undefined {
  const address = text.normalize('NFKC').trim().toLowerCase()
  return ADDRESS.test(address) ? address : undefined
}
