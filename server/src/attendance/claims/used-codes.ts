import { MINUTE_MS } from '../../clock.ts'

/** Claims in a row whose codes are used; from this number on they are a contradiction. One or two used codes are usual. */
const MAX_CLAIMS = 3

/**
 * Finds out when the issuer calls code after code used that it listed as unused: with several claims of an event within
 * a minute, and no accepted one in between, that is a fault of the issuer or an outdated list. In the memory of the
 * process, by its monotonic clock.
 *
 * @example
 * const used = new UsedCodes()
 * used.isContradiction({ eventId: 90001, id: 1 }) // false
 * used.isContradiction({ eventId: 90001, id: 2 }) // false
 * used.isContradiction({ eventId: 90001, id: 3 }) // true: the third claim whose code another address has
 */
export class UsedCodes {
  private readonly now: () => number
  /** The claims of each event, with the time of the last code. */
  private readonly claims = new Map<number, Map<number, number>>()

  /** @param now a steady time in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.now = now
  }

  /** Counts a claim whose code another address has used. */
  isContradiction({ eventId, id }: { readonly eventId: number; readonly id: number }): boolean {
    this.forgetOld()
    const claims = this.claims.get(eventId) ?? new Map<number, number>()
    this.claims.set(eventId, claims.set(id, this.now()))
    return claims.size >= MAX_CLAIMS
  }

  /** The issuer accepted a claim of the event. */
  forget(eventId: number): void {
    this.claims.delete(eventId)
  }

  private forgetOld(): void {
    const fromMs = this.now() - MINUTE_MS
    for (const [eventId, claims] of this.claims) {
      for (const [id, atMs] of claims) if (atMs <= fromMs) claims.delete(id)
      if (claims.size === 0) this.claims.delete(eventId)
    }
  }
}
