/** Coordinates of a parcel: x grows to the east, y to the north. Both are whole numbers. */
export interface Coord {
  readonly x: number
  readonly y: number
}

/** The bounds in the contract (LANDRegistry: "The coordinates should be inside bounds"). */
export const CONTRACT_LIMIT = 999_999

const COORD = /^(-?(?:0|[1-9]\d{0,5})),(-?(?:0|[1-9]\d{0,5}))$/

/**
 * Reads `x,y`: decimal, no spaces, no leading zeros. Undefined for anything else, `-0` included.
 *
 * @example
 * parseCoord('-48,29') // { x: -48, y: 29 }
 * parseCoord('1, 2') // undefined
 */
export function parseCoord(text: string): Coord | undefined {
  const match = COORD.exec(text)
  if (!match || match[1] === '-0' || match[2] === '-0') return undefined
  return { x: Number(match[1]), y: Number(match[2]) }
}

/**
 * Coordinates as text, which is also the parcel's id.
 *
 * @example
 * coordText({ x: -48, y: 29 }) // '-48,29'
 */
export function coordText({ x, y }: Coord): string {
  return `${x},${y}`
}
