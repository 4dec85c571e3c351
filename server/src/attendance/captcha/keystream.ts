import { createCipheriv } from 'node:crypto'

/** How many bytes of seed a {@link Keystream} takes. */
export const SEED_BYTES = 16

const BLOCK_BYTES = 4096
const TWO_32 = 0x1_0000_0000

/**
 * Random numbers that are the same for the same seed: AES-128 in counter mode, the seed is the key.
 *
 * A cipher and not a small pseudo-random generator, because the code is public: from an image an attacker could compute
 * the state of a small generator, draw images with the same seed and other letters, and compare them.
 */
export class Keystream {
  private readonly cipher: ReturnType<typeof createCipheriv>
  private block: Buffer = Buffer.alloc(0)
  private at = 0

  /** @param seed 16 bytes */
  constructor(seed: Uint8Array) {
    this.cipher = createCipheriv('aes-128-ctr', seed, Buffer.alloc(SEED_BYTES))
  }

  bytes(count: number): Buffer {
    return this.cipher.update(Buffer.alloc(count))
  }

  /** A number from `low` up to `high`. */
  between(low: number, high: number): number {
    return low + (high - low) * this.fraction()
  }

  /** A number around 0, at most `reach` away from it; the nearer, the likelier. */
  around(reach: number): number {
    return (this.fraction() + this.fraction() - 1) * reach
  }

  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit)
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!
  }

  private fraction(): number {
    if (this.at === this.block.length) {
      this.block = this.bytes(BLOCK_BYTES)
      this.at = 0
    }
    const word = this.block.readUInt32LE(this.at)
    this.at += 4
    return word / TWO_32
  }
}
