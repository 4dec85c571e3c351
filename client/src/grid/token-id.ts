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
