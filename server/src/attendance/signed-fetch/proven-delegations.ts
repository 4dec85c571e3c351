import type { Delegation } from './delegation.ts'

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

  /** Whether it is known that `owner` (lower case) signed the delegation. */
  has(owner: string, delegation: Delegation, signature: string): boolean {
    return this.proven.has(nameOf(owner, delegation, signature))
  }

  /** Adds a delegation that was verified. Forged ones must not be added: they would push others out. */
  add(owner: string, delegation: Delegation, signature: string): void {
    this.proven.add(nameOf(owner, delegation, signature))
    if (this.proven.size > this.limit) this.dropOldest()
  }

  private dropOldest(): void {
    for (const oldest of this.proven) {
      this.proven.delete(oldest)
      return
    }
  }
}

function nameOf(owner: string, { text }: Delegation, signature: string): string {
  return `${owner}${signature.toLowerCase()}${text}`
}
