import type { BlockRef } from '../chain-types.ts'

/** More blocks than mainnet has had without a final one; older ones are forgotten. */
const MAX_BLOCKS = 1_024

/** The hashes of the newest blocks that nodes have answered, by number. */
export class RecentBlocks {
  private readonly hashes = new Map<number, string>()

  /** Remembers a block; another one of this number is replaced. */
  add({ number, hash }: BlockRef): void {
    this.hashes.delete(number)
    this.hashes.set(number, hash)
    if (this.hashes.size > MAX_BLOCKS) {
      const [oldest] = this.hashes.keys()
      if (oldest !== undefined) this.hashes.delete(oldest)
    }
  }

  /** Whether another block of this number is known. */
  hasOther({ number, hash }: BlockRef): boolean {
    const known = this.hashes.get(number)
    return known !== undefined && known !== hash
  }
}
