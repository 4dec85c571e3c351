import type { World } from '@landpass/client/grid'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../clock.ts'
import type { AttendanceConfig } from '../config.ts'
import type { Db } from '../db/engine.ts'
import type { Captchas } from './captcha/captchas.ts'
import type { Claims } from './claims/claims.ts'
import type { EditCodeGuard } from './edit-code-guard.ts'
import type { CodeCountCache } from './events/code-count-cache.ts'
import type { EventCache } from './events/event-cache.ts'
import type { Issuer } from './issuer/issuer.ts'
import type { Presence } from './presence/presence.ts'
import type { Refusals } from './refusals.ts'
import type { SignedFetch } from './signed-fetch/signed-fetch.ts'
import type { Vault } from './vault.ts'

/** What the routes of the attendance interface work with. */
export interface AttendanceContext {
  readonly db: Db
  readonly clock: Clock
  readonly world: World
  readonly config: AttendanceConfig
  readonly vault: Vault
  readonly issuer: Issuer
  readonly presence: Presence
  readonly captchas: Captchas
  readonly signedFetch: SignedFetch
  readonly guard: EditCodeGuard
  readonly claims: Claims
  readonly events: EventCache
  readonly codeCounts: CodeCountCache
  readonly refusals: Refusals
  /** @throws {AppError} `attendance_not_configured` where settings are missing */
  assertConfigured(): void
  /** @throws {AppError} `too_many_requests` */
  countPlayer(request: FastifyRequest, reply: FastifyReply, address: string): Promise<void>
  onClaim(result: string): void
}
