import type { Refusal } from './refusal-texts.ts'

interface Mint {
  readonly eventId: number
  readonly hash: string
  readonly address: string
  readonly nowMs: number
  readonly fails: boolean
}

/** Records the requests to the simulated issuer and the tokens that it made. Tests count tokens with it. */
export class Ledger {
  private mints: Mint[] = []
  private readonly claimRequests = new Map<string, number>()
  private readonly refusals = new Map<string, number>()
  private requests = 0
  private tokenRequests = 0

  noteRequest(): void {
    this.requests += 1
  }

  noteTokenRequest(): void {
    this.tokenRequests += 1
  }

  noteClaimRequest(hash: string, refusal: Refusal | undefined): void {
    this.claimRequests.set(hash, (this.claimRequests.get(hash) ?? 0) + 1)
    if (refusal) this.refusals.set(refusal, (this.refusals.get(refusal) ?? 0) + 1)
  }

  noteMint(mint: Mint): void {
    this.mints.push(mint)
  }

  /** Removes the mints of an event that was replaced, so that they do not count as repeats. */
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
      posts: [...this.claimRequests.values()].reduce((sum, count) => sum + count, 0),
      posts_by_code: Object.fromEntries(this.claimRequests),
      refused: Object.fromEntries(this.refusals),
      requests: this.requests,
      token_requests: this.tokenRequests,
    }
  }
}

function repeats(mints: readonly Mint[], keyOf: (mint: Mint) => string): number {
  return mints.length - new Set(mints.map(keyOf)).size
}
