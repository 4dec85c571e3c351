import type { Refusal } from './refusal-texts.ts'

interface Mint {
  readonly eventId: number
  readonly hash: string
  readonly address: string
  readonly nowMs: number
  readonly fails: boolean
}

/** What was asked of the issuer, and what it really did: the judge of every test that counts tokens. */
export class Ledger {
  private mints: Mint[] = []
  private readonly wishes = new Map<string, number>()
  private readonly refusals = new Map<string, number>()
  private requests = 0
  private tokenRequests = 0

  noteRequest(): void {
    this.requests += 1
  }

  noteTokenRequest(): void {
    this.tokenRequests += 1
  }

  noteWish(hash: string, refusal: Refusal | undefined): void {
    this.wishes.set(hash, (this.wishes.get(hash) ?? 0) + 1)
    if (refusal) this.refusals.set(refusal, (this.refusals.get(refusal) ?? 0) + 1)
  }

  noteMint(mint: Mint): void {
    this.mints.push(mint)
  }

  /** The event was replaced: what is minted of the new one is no repeat of the old one. */
  forget(eventId: number): void {
    this.mints = this.mints.filter((mint) => mint.eventId !== eventId)
  }

  /** As `GET /simulator/ledger` answers it. */
  json() {
    const made = this.mints.filter(({ fails }) => !fails)
    return {
      mints: made.map(({ eventId, hash, address, nowMs }) => ({
        event_id: eventId,
        code: hash,
        address: address.toLowerCase(),
        at: new Date(nowMs).toISOString(),
      })),
      count: made.length,
      // Tokens beyond the first for one player and event, and beyond the first for one code
      double_mints: repeats(made, ({ eventId, address }) => `${eventId} ${address.toLowerCase()}`),
      double_codes: repeats(made, ({ hash }) => hash),
      failed_mints: this.mints.length - made.length,
      posts: [...this.wishes.values()].reduce((sum, count) => sum + count, 0),
      posts_by_code: Object.fromEntries(this.wishes),
      refused: Object.fromEntries(this.refusals),
      requests: this.requests,
      token_requests: this.tokenRequests,
    }
  }
}

function repeats(mints: readonly Mint[], keyOf: (mint: Mint) => string): number {
  return mints.length - new Set(mints.map(keyOf)).size
}
