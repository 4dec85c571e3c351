import type { Delegation } from './delegation.ts'
import type { RecoverSigner } from './signature-recovery.ts'

/**
 * Caches verified delegations, about 350 bytes each: a player sends the same delegation with every request for weeks,
 * and each verification takes 90 µs.
 */
export class ProvenDelegations {
  private readonly limit: number
  private readonly proven = new Set<string>()
  /** @param limit how many delegations are cached; beyond it the oldest is dropped */
  constructor(limit: number) {
    this.limit = limit
  }

  /** Whether `owner` (lower case) signed the delegation. */
  async isBy(
    owner: string,
    { text }: Delegation,
    signature: string,
    recover: RecoverSigner,
  ): Promise<boolean> {
    const name = `${owner}${signature.toLowerCase()}${text}`
    if (this.proven.has(name)) return true
    // Only verified delegations are cached: forged ones cannot push others out
    if ((await recover({ text, signature })) !== owner) return false
    this.proven.add(name)
    if (this.proven.size > this.limit) this.dropOldest()
    return true
  }

  private dropOldest(): void {
    for (const oldest of this.proven) {
      this.proven.delete(oldest)
      return
    }
  }
}
