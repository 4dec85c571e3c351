import { keccak256 } from '../../ethereum/keccak256.ts'
import type { RawLog } from '../chain-types.ts'
import { bytesOf, hexOf } from './hex-bytes.ts'

/** The bloom of a header or receipt: 2,048 bits. */
const BLOOM_BYTES = 256

/**
 * The bloom of logs, as headers and receipts have it: 256 bytes in hex. The bloom of a header is that of *all* logs of its
 * block, so it cannot be compared with that of a part of them.
 *
 * @example
 * bloomOf([]) === `0x${'0'.repeat(512)}` // true
 */
export function bloomOf(logs: readonly Pick<RawLog, 'address' | 'topics'>[]): string {
  const bloom = new Uint8Array(BLOOM_BYTES)
  for (const { address, topics } of logs) {
    for (const value of [address, ...topics]) {
      for (const bit of bitsOf(value)) bloom[byteOf(bit)]! |= 1 << (bit & 7)
    }
  }
  return hexOf(bloom)
}

/**
 * The first log of an answer that cannot be in the block, because the block's bloom lacks bits of its address or topics.
 * Undefined where nothing is wrong, and for a bloom without any bit: some chains leave it empty. Bits for which the answer
 * has no logs mean nothing: other logs have set them.
 *
 * @param logsBloom of the header, in hex
 * @example
 * findLogOutsideBloom(bloomOf(logs), logs) // undefined
 */
export function findLogOutsideBloom<T extends Pick<RawLog, 'address' | 'topics'>>(
  logsBloom: string,
  logs: readonly T[],
): T | undefined {
  const bloom = bytesOf(logsBloom)
  if (bloom.every((byte) => byte === 0)) return undefined
  const has = (value: string) => bitsOf(value).every((bit) => (bloom[byteOf(bit)]! & (1 << (bit & 7))) !== 0)
  return logs.find(({ address, topics }) => ![address, ...topics].every(has))
}

/**
 * Whether the bloom of a block proves that it has no log of any of these addresses. A bloom without any bit proves nothing:
 * some chains leave it empty.
 *
 * @param logsBloom of a header whose hash was checked
 * @example
 * excludesLogsOf(bloomOf([{ address: LAND, topics: [] }]), [ESTATE]) // true
 */
export function excludesLogsOf(logsBloom: string, addresses: readonly string[]): boolean {
  const bloom = bytesOf(logsBloom)
  if (bloom.every((byte) => byte === 0)) return false
  return addresses.every((address) =>
    bitsOf(address).some((bit) => (bloom[byteOf(bit)]! & (1 << (bit & 7))) === 0),
  )
}

/** The three bits of an address or topic. */
function bitsOf(value: string): readonly number[] {
  const hash = keccak256(bytesOf(value))
  return [0, 2, 4].map((at) => ((hash[at]! << 8) | hash[at + 1]!) & 2047)
}

function byteOf(bit: number): number {
  return BLOOM_BYTES - 1 - (bit >> 3)
}
