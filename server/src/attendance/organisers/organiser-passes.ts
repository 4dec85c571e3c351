import { randomBytes } from 'node:crypto'
import { type Clock, DAY_MS, SECOND_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { isKeyedHash, keyedHash } from '../secrets/keyed-hash.ts'
import type { Vault } from '../secrets/vault.ts'
import { passGenerationOf, raisePassGeneration } from './organiser-pass-queries.ts'

/** A pass is replaced when less than this is left of it. */
const RENEW_WITHIN_MS = 7 * DAY_MS
const ID_BYTES = 16

/** As answers carry it. */
export interface NewPass {
  readonly pass: string
  /** ISO 8601, UTC. */
  readonly expires_at: string
}

export interface HeldPass {
  readonly id: string
  /** Whether it ends soon: then the next right edit code gets a new one. */
  readonly isOld: boolean
}

export interface OrganiserPassesOptions {
  readonly db: Db
  readonly clock: Clock
  readonly vault: Pick<Vault, 'fingerprint' | 'otherFingerprints'>
  /** How long a pass is valid. */
  readonly ttlMs: number
}

/**
 * Passes for clients that have sent the right edit code of an event. A pass gives no right: the issuer judges the edit
 * code each time. It only has a budget of wrong codes of its own, so that strangers cannot use it up.
 *
 *   <random id>.<last second, base 36>.<keyed hash of id, last second, event and generation>
 *
 * The server stores no pass. To revoke all passes of an event it stores a new generation of the event.
 */
export class OrganiserPasses {
  private readonly options: OrganiserPassesOptions
  constructor(options: OrganiserPassesOptions) {
    this.options = options
  }

  async make(eventId: number): Promise<NewPass> {
    const { db, clock, vault, ttlMs } = this.options
    const untilS = Math.floor((clock.nowMs() + ttlMs) / SECOND_MS)
    const content = `${randomBytes(ID_BYTES).toString('base64url')}.${untilS.toString(36)}`
    const hashed = hashedOf(eventId, await passGenerationOf(db, eventId), content)
    const hash = keyedHash(vault, 'organiser-pass', hashed)
    return { pass: `${content}.${hash}`, expires_at: new Date(untilS * SECOND_MS).toISOString() }
  }

  /** @returns undefined for a pass that is expired, revoked, of another event, or no pass at all */
  async check(eventId: number, pass: string): Promise<HeldPass | undefined> {
    const { db, clock, vault } = this.options
    const [, content = '', id = '', untilText = '', hash = ''] = PASS.exec(pass) ?? []
    const leftMs = Number.parseInt(untilText, 36) * SECOND_MS - clock.nowMs()
    if (!(leftMs > 0)) return undefined
    const hashed = hashedOf(eventId, await passGenerationOf(db, eventId), content)
    return isKeyedHash(vault, 'organiser-pass', hashed, hash)
      ? { id, isOld: leftMs < RENEW_WITHIN_MS }
      : undefined
  }

  /** Makes all passes of an event invalid. */
  async revokeAll(eventId: number): Promise<void> {
    await raisePassGeneration(this.options.db, eventId)
  }
}

/** The part before the hash; in it the id and the last second; the hash. */
const PASS = /^(([\w-]{22})\.([\da-z]{1,8}))\.([\w-]{43})$/

function hashedOf(eventId: number, generation: number, content: string): string {
  return `${eventId}.${generation}.${content}`
}
