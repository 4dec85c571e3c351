import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { acceptClaims, type HeldClaim } from './claim-queries.ts'

interface Waiting {
  readonly claim: HeldClaim
  readonly nextStepAtMs: number
  resolve(): void
  reject(error: unknown): void
}

/**
 * Writes accepted claims to the database in batches: claims that are added while a write runs go into the next write.
 * Under load one transaction writes about ten claims; without load a claim is written at once.
 */
export class AcceptedClaims {
  private readonly db: Db
  private readonly clock: Clock
  private waiting: Waiting[] = []
  private isWriting = false
  constructor({ db, clock }: { readonly db: Db; readonly clock: Clock }) {
    this.db = db
    this.clock = clock
  }

  /** Resolves when the claim is written. A claim that another process has changed since stays as it is. */
  add(claim: HeldClaim, nextStepAtMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ claim, nextStepAtMs, resolve, reject })
      if (!this.isWriting) void this.write()
    })
  }

  private async write(): Promise<void> {
    this.isWriting = true
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0)
      try {
        await acceptClaims(this.db, batch, this.clock.nowMs())
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.isWriting = false
  }
}
