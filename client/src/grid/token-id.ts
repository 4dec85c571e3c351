import { CONTRACT_LIMIT, type Coord } from './coord.ts'

const HALF = 128n

/**
 * The token id of a parcel: x in the upper 128 bits, y in the lower 128, each in two's complement
 * (LANDRegistry.encodeTokenId). The inverse is {@link decodeTokenId}.
 *
 * @example
 * encodeTokenId({ x: 1, y: 2 }) // 340282366920938463463374607431768211458n
 */
export function encodeTokenId({ x, y }: Coord): bigint {
  return (BigInt.asUintN(128, BigInt(x)) << HALF) | BigInt.asUintN(128, BigInt(y))
}

/** The token ids of one column of parcels on one side of y = 0, as text, without their last digits. */
interface Column {
  readonly digits: string
  /** The last digits at y = 0, after an added leading 1 that keeps zeros. */
  readonly last: number
}

const LAST_DIGITS = 14
const LEADING_ONE = 10 ** LAST_DIGITS

/** Columns by x, for y from 0 on and for y below 0. A world has a few hundred. */
const columns = { above: new Map<number, Column>(), below: new Map<number, Column>() }
const MAX_COLUMNS = 2_048

/**
 * The decimal digits of a token id. It is the text of {@link encodeTokenId}, and takes a tenth of its time for the
 * parcels of a world: the ids of a column differ only in their last digits.
 *
 * @example
 * tokenIdText({ x: 1, y: 2 }) // '340282366920938463463374607431768211458'
 */
export function tokenIdText({ x, y }: Coord): string {
  if (x === 0 && y >= 0) return String(y)
  const side = y < 0 ? columns.below : columns.above
  const { digits, last } = side.get(x) ?? addColumn(side, x, y < 0)
  const sum = last + y
  if (sum < LEADING_ONE || sum >= 2 * LEADING_ONE) return encodeTokenId({ x, y }).toString()
  return digits + String(sum).slice(1)
}

function addColumn(side: Map<number, Column>, x: number, isBelow: boolean): Column {
  // Below 0, y is counted from 2^128 in two's complement.
  const zero = encodeTokenId({ x, y: 0 }) + (isBelow ? 1n << HALF : 0n)
  const text = zero.toString()
  const column = {
    digits: text.slice(0, -LAST_DIGITS),
    last: LEADING_ONE + Number(text.slice(-LAST_DIGITS)),
  }
  if (side.size >= MAX_COLUMNS) side.clear()
  side.set(x, column)
  return column
}

/**
 * The coordinates of a token id; undefined if they are outside the bounds of the contract.
 *
 * @example
 * decodeTokenId(340282366920938463463374607431768211458n) // { x: 1, y: 2 }
 */
export function decodeTokenId(tokenId: bigint): Coord | undefined {
  const x = BigInt.asIntN(128, tokenId >> HALF)
  const y = BigInt.asIntN(128, tokenId)
  const limit = BigInt(CONTRACT_LIMIT)
  if (x > limit || x < -limit || y > limit || y < -limit) return undefined
  return { x: Number(x), y: Number(y) }
}

/**
 * A token id as `0x` and 64 hex digits.
 *
 * @example
 * tokenIdHex({ x: -48, y: -29 }) // '0xffffffffffffffffffffffffffffffd0ffffffffffffffffffffffffffffffe3'
 */
export function tokenIdHex(coord: Coord): string {
  return `0x${encodeTokenId(coord).toString(16).padStart(64, '0')}`
}

const DECIMAL = /^\d{1,78}$/
const HEX = /^0[xX][0-9a-fA-F]{1,64}$/
const MAX_TOKEN_ID = (1n << 256n) - 1n

/**
 * Reads a token id: decimal digits, or `0x` and hex digits, at most 256 bits. Undefined for anything else.
 *
 * @example
 * parseTokenId('0x10') // 16n
 * parseTokenId('-1') // undefined
 */
export function parseTokenId(text: string): bigint | undefined {
  if (!DECIMAL.test(text) && !HEX.test(text)) return undefined
  const tokenId = BigInt(text)
  return tokenId <= MAX_TOKEN_ID ? tokenId : undefined
}
