import { keccak256 } from '@landpass/server/ethereum/keccak256'
import { bytesOf } from './words.ts'

export const BLOOM_BYTES = 256
const LAST_BYTE = BLOOM_BYTES - 1
const BIT_MASK = 2_047
/** Addresses and topics repeat: a hash takes ten times as long as finding it here. */
const MOST_REMEMBERED = 100_000

const remembered = new Map<string, readonly [number, number, number]>()

/** What a bloom filter needs to know of a log. */
export interface BloomedLog {
  readonly address: string
  readonly topics: readonly string[]
}

/** Sets the bits of a log's address and topics in a bloom filter of 256 bytes. */
export function addToBloom(bloom: Uint8Array, { address, topics }: BloomedLog): void {
  addValue(bloom, address)
  for (const topic of topics) addValue(bloom, topic)
}

function addValue(bloom: Uint8Array, hex: string): void {
  for (const bit of bitsOf(hex)) bloom[LAST_BYTE - (bit >> 3)]! |= 1 << (bit & 7)
}

function bitsOf(hex: string): readonly [number, number, number] {
  const known = remembered.get(hex)
  if (known) return known
  const hash = keccak256(bytesOf(hex))
  const bitAt = (at: number) => ((hash[at]! << 8) | hash[at + 1]!) & BIT_MASK
  const bits = [bitAt(0), bitAt(2), bitAt(4)] as const
  if (remembered.size >= MOST_REMEMBERED) remembered.clear()
  remembered.set(hex, bits)
  return bits
}
