import { recoverAddress } from '../../ethereum/signatures.ts'
import type { Delegation } from './delegation.ts'

/**
 * Remembers which delegations were proven to be of their wallet: a player sends the same one with every request for
 * weeks, and each proof takes 100 µs. An entry is about 350 bytes.
 */
export class ProvenDelegations {
  private readonly limit: number
  private readonly proven = new Set<string>()
  /** @param limit how many are remembered; beyond it the oldest is forgotten */
  constructor(limit: number) {
    this.limit = limit
  }

  /** Whether `owner` (lower case) signed the delegation. */
  isBy(owner: string, { text }: Delegation, signature: string): boolean {
    const name = `${owner}${signature.toLowerCase()}${text}`
    if (this.proven.has(name)) return true
    // Only what is proven is kept: junk cannot push a player out.
    if (recoverAddress(text, signature) !== owner) return false
    this.proven.add(name)
    if (this.proven.size > this.limit) this.forgetOldest()
    return true
  }

  private forgetOldest(): void {
    for (const oldest of this.proven) {
      this.proven.delete(oldest)
      return
    }
  }
}
