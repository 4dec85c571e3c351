import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { SECOND_MS } from '../../clock.ts'
import type { Refusal } from './refusal-texts.ts'

/** What the simulated issuer takes for an operator's key and credentials. */
export const SIMULATED_API_KEY = 'simulated-key'
export const SIMULATED_CLIENT_ID = 'simulated-client'
export const SIMULATED_CLIENT_SECRET = 'simulated-secret'

export type Need = 'nothing' | 'key' | 'key and token'

export interface TokenAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** Who may call: the key, and the tokens that were given out. */
export class Access {
  private readonly apiKey: string
  private readonly endOfToken = new Map<string, number>()

  constructor(apiKey: string) {
    this.apiKey = apiKey
  }

  /** Undefined for those who may go on. */
  refusalOf(headers: IncomingHttpHeaders, need: Need, nowMs: number): Refusal | undefined {
    if (need === 'nothing') return undefined
    if (headers['x-api-key'] !== this.apiKey) return 'bad_key'
    if (need === 'key') return undefined
    const token = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1]
    return nowMs < (this.endOfToken.get(token ?? '') ?? 0) ? undefined : 'bad_token'
  }

  /** `POST /oauth/token`; the failures are in the form of the issuer's identity provider. */
  giveToken(request: unknown, lifeS: number, nowMs: number): TokenAnswer {
    const wish = (typeof request === 'object' && request !== null ? request : {}) as Record<string, unknown>
    if (wish.client_id !== SIMULATED_CLIENT_ID || wish.client_secret !== SIMULATED_CLIENT_SECRET)
      return { status: 401, body: { error: 'access_denied', error_description: 'Unauthorized' } }
    if (wish.grant_type !== 'client_credentials' || typeof wish.audience !== 'string')
      return {
        status: 403,
        body: { error: 'unauthorized_client', error_description: 'Grant type not allowed' },
      }
    this.forgetEnded(nowMs)
    // Not from the seed: a token of an earlier run must not work
    const token = `simulated.${randomBytes(24).toString('base64url')}`
    this.endOfToken.set(token, nowMs + lifeS * SECOND_MS)
    const body = { access_token: token, expires_in: lifeS, scope: 'mint:qr_claim', token_type: 'Bearer' }
    return { status: 200, body }
  }

  revokeTokens(): void {
    this.endOfToken.clear()
  }

  private forgetEnded(nowMs: number): void {
    for (const [token, endMs] of this.endOfToken) if (endMs <= nowMs) this.endOfToken.delete(token)
  }
}
