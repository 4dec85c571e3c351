import { expect } from 'vitest'
import { Captchas } from '../../../src/attendance/captcha/captchas.ts'
import { ClaimRules } from '../../../src/attendance/claims/claim-rules.ts'
import { ClaimWorker } from '../../../src/attendance/claims/claim-worker.ts'
import { Claims, type ClaimsOptions } from '../../../src/attendance/claims/claims.ts'
import { BlockedPlayers } from '../../../src/attendance/events/blocked-players.ts'
import { CodeCountCache } from '../../../src/attendance/events/code-count-cache.ts'
import { EventHolds } from '../../../src/attendance/events/event-holds.ts'
import { Grants } from '../../../src/attendance/grants/grants.ts'
import { Rehearsals } from '../../../src/attendance/rehearsal/rehearsals.ts'
import type { Vault } from '../../../src/attendance/secrets/vault.ts'
import { SignedFetch } from '../../../src/attendance/signed-fetch/signed-fetch.ts'
import { type Clock, MINUTE_MS, SECOND_MS } from '../../../src/clock.ts'
import type { Db } from '../../../src/db/engine.ts'

const UNASKED = {
  readCode: () => expect.fail('the issuer was asked'),
  mint: () => expect.fail('the issuer was asked'),
  sign: () => expect.fail('the issuer was asked'),
}
const SILENT = { warn: () => {}, error: () => {} }

/**
 * The rules of claims with all that they decide by, on a database. The worker is never started: claims stay as they were
 * made, and the issuer gets no calls.
 */
export function buildClaimRules(options: {
  readonly db: Db
  readonly clock: Clock
  readonly vault: Vault
  readonly prepareToken: ClaimsOptions['prepareToken']
}) {
  const { db, clock, vault, prepareToken } = options
  const holds = new EventHolds({ db, clock })
  const forIssuer = { issuer: UNASKED, issuerTimeoutMs: SECOND_MS, callsPerSecond: 1 }
  const worker = new ClaimWorker({ db, clock, vault, ...forIssuer, holds, log: SILENT })
  const signedFetch = new SignedFetch({ db, clock, windowMs: MINUTE_MS })
  const captchas = new Captchas({ db, vault, clock, proofOfWorkBits: 0 })
  const grants = new Grants({ db, clock, vault, maxOpen: 10, maxOpenOfAll: 1_000 })
  const codeCounts = new CodeCountCache(db)
  const forClaims = { worker, signedFetch, prepareToken, codeCounts, grants, waitMs: SECOND_MS }
  const claims = new Claims({ db, clock, ...forClaims })
  const blocked = new BlockedPlayers({ db, clock })
  const rehearsals = new Rehearsals({ db, clock })
  const checks = { signedFetch, captchas, claims, holds, blocked, grants, rehearsals }
  return { rules: new ClaimRules({ clock, ...checks }), ...checks }
}
