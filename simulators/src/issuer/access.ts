import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { SECOND_MS } from '@landpass/server/clock'
import type { Refusal } from './refusal-texts.ts'

/** The operator's API key and credentials that the simulated issuer accepts. */
export const SIMULATED_API_KEY = 'simulated-key'
export const SIMULATED_CLIENT_ID = 'simulated-client'
export const SIMULATED_CLIENT_SECRET = 'simulated-secret'

export type Need = 'nothing' | 'key' | 'key and token'

export interface TokenAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** Checks the API key and the access tokens of requests, and issues access tokens. */
export class Access {
  private readonly apiKey: string
  private readonly expiryOfToken = new Map<string, number>()

  constructor(apiKey: string) {
    this.apiKey = apiKey
  }

  /** Why a request is refused; undefined for one that is allowed. */
  refusalOf(headers: IncomingHttpHeaders, need: Need, nowMs: number): Refusal | undefined {
    if (need === 'nothing') return undefined
    if (headers['x-api-key'] !== this.apiKey) return 'bad_key'
    if (need === 'key') return undefined
    const token = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1]
    return nowMs < (this.expiryOfToken.get(token ?? '') ?? 0) ? undefined : 'bad_token'
  }

  /** Answers `POST /oauth/token`. Failures have the form of the issuer's identity provider. */
  issueToken(body: unknown, lifeS: number, nowMs: number): TokenAnswer {
    const request = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
    if (request.client_id !== SIMULATED_CLIENT_ID || request.client_secret !== SIMULATED_CLIENT_SECRET)
      return { status: 401, body: { error: 'access_denied', error_description: 'Unauthorized' } }
    if (request.grant_type !== 'client_credentials' || typeof request.audience !== 'string')
      return {
        status: 403,
        body: { error: 'unauthorized_client', error_description: 'Grant type not allowed' },
      }
    this.removeExpired(nowMs)
    // Not from the seed, because a token of an earlier run must not be valid
    const token = `simulated.${randomBytes(24).toString('base64url')}`
    this.expiryOfToken.set(token, nowMs + lifeS * SECOND_MS)
    const answer = { access_token: token, expires_in: lifeS, scope: 'mint:qr_claim', token_type: 'Bearer' }
    return { status: 200, body: answer }
  }

  revokeTokens(): void {
    this.expiryOfToken.clear()
  }

  private removeExpired(nowMs: number): void {
    for (const [token, endMs] of this.expiryOfToken) if (endMs <= nowMs) this.expiryOfToken.delete(token)
  }
}
