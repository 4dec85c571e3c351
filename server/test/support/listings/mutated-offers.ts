import { ethers } from 'ethers'
import fc from 'fast-check'

export type Json = Record<string, unknown>

/** Which field is changed, and how. */
export interface Mutation {
  readonly place: number
  readonly bit: number
  readonly other: bigint
}

export const mutations: fc.Arbitrary<Mutation> = fc.record({
  place: fc.nat(),
  bit: fc.nat(),
  other: fc.bigInt({ min: 0n, max: 2n ** 64n }),
})

/** An offer with another value in one of its signed fields. @param notSigned paths of the other fields */
export function mutated(offer: Json, { place, bit, other }: Mutation, notSigned: readonly string[]): Json {
  const copy = structuredClone(offer)
  const leaves = leavesOf(copy).filter(({ path }) => !notSigned.includes(path))
  const { holder, key } = leaves[place % leaves.length]!
  const value = holder[key]
  if (typeof value === 'boolean') holder[key] = !value
  // Milliseconds of a second are not signed.
  else if (typeof value === 'number') holder[key] = value + 1_000 * (1 + Number(other % 1_000n))
  else if (/^\d+$/.test(value as string)) holder[key] = String(BigInt(value as string) + 1n + other)
  else holder[key] = otherHex((value as string) || '0x', bit)
  return copy
}

/** With one bit changed; of no bytes, a byte. Letter case does not count. */
function otherHex(hex: string, bit: number): string {
  if (hex === '0x') return '0x01'
  const bytes = ethers.getBytes(hex)
  const at = bit % (bytes.length * 8)
  bytes[at >> 3]! ^= 1 << (at & 7)
  return ethers.hexlify(bytes)
}

function leavesOf(value: Json, path = ''): { holder: Json; key: string; path: string }[] {
  return Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === 'object' && inner !== null
      ? leavesOf(inner as Json, `${path}${key}.`)
      : [{ holder: value, key, path: path + key }],
  )
}
