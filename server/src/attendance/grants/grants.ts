import { type Clock, HOUR_MS, MINUTE_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { AppError } from '../../errors.ts'
import type { Event } from '../events/event-queries.ts'
import { OneSecondCache } from '../one-second-cache.ts'
import type { Vault } from '../vault.ts'
import {
  countOpenGrants,
  deleteEndedSecrets,
  deleteExpiredGrants,
  findGrant,
  findSecrets,
  type Grant,
  hasGrant,
  insertGrant,
  replaceSecret,
} from './grant-queries.ts'
import { isSignedWith, makeSecret, type SignedGrant } from './grant-signature.ts'

/** How long a grant may be valid. */
export const MAX_GRANT_DAYS = 7
/** The clock of the program that gives a grant may be so much ahead. */
const CLOCK_AHEAD_MS = 5 * MINUTE_MS
const MAX_GRANT_MS = MAX_GRANT_DAYS * 24 * HOUR_MS + CLOCK_AHEAD_MS
const DELETE_BATCH_ROWS = 1_000

export interface GrantsOptions {
  readonly db: Db
  readonly clock: Clock
  readonly vault: Vault
  /** Open grants of an event at a time. */
  readonly maxOpen: number
}

/** What is done besides when a secret is made. */
export interface SecretChange {
  /** For so long the secret before stays valid; 0 if left out. */
  readonly keepPreviousMs?: number
  /** Whether all unused grants are withdrawn, for the case that others know the secret before. */
  readonly withdrawsOpen?: boolean
}

export interface MadeSecret {
  readonly secret: string
  /** When the secret before ends; null where there was none. */
  readonly previousEndsAtMs: number | null
  /** How many unused grants were withdrawn. */
  readonly withdrawn: number
}

/**
 * Grants: a program of the organiser, for example the server of a game, says who may claim a token of an event. It signs
 * each grant with a secret of the event. A claim uses a grant up: claims/reserve-queries.ts.
 */
export class Grants {
  private readonly options: GrantsOptions
  /** Open grants of each event: counted in the last second, and the ones that this process has added since. */
  private readonly open = new OneSecondCache<{ count: number }>()
  constructor(options: GrantsOptions) {
    this.options = options
  }

  /**
   * Makes a new secret of an event. The one before ends now, or after `keepPreviousMs`; any earlier one ends now.
   *
   * @returns the secret, which is not shown again
   */
  async makeSecret(
    eventId: number,
    { keepPreviousMs = 0, withdrawsOpen = false }: SecretChange = {},
  ): Promise<MadeSecret> {
    const { db, clock, vault } = this.options
    const nowMs = clock.nowMs()
    const secret = makeSecret()
    const sealed = vault.seal('grant-secret', secret, String(eventId))
    const previousUntilMs = nowMs + keepPreviousMs
    const change = { eventId, sealed, nowMs, previousUntilMs, withdrawsOpen }
    const { hadOne, withdrawn } = await replaceSecret(db, change)
    if (withdrawsOpen) this.open.forget(String(eventId))
    return { secret, previousEndsAtMs: hadOne ? previousUntilMs : null, withdrawn }
  }

  /**
   * The event of a signed grant. An unknown event, and one without a secret, are answered like a wrong signature.
   *
   * @throws {AppError} `bad_grant`
   */
  async findSigner(grant: SignedGrant): Promise<number> {
    const { db, clock, vault } = this.options
    const found = await findSecrets(db, grant.uuid, clock.nowMs())
    const event = String(found?.eventId)
    const secrets = (found?.sealed ?? []).flatMap((sealed) =>
      vault.canOpen('grant-secret', sealed, event) ? [vault.open('grant-secret', sealed, event)] : [],
    )
    const isRight = isSignedWith(secrets.length > 0 ? secrets : [makeSecret()], grant)
    if (found && isRight) return found.eventId
    throw new AppError(
      'bad_grant',
      'The signature does not fit this event and body. Check the uuid, the secret, and that the signed bytes are the sent ones.',
    )
  }

  /**
   * Stores a grant, after its signature was found right. The same grant again changes nothing.
   *
   * @throws {AppError} `nonce_used`, `too_many_grants`
   */
  async give(grant: Grant): Promise<'accepted' | 'repeated'> {
    const { db } = this.options
    for (;;) {
      const known = await findGrant(db, grant)
      if (known) {
        assertSame(known, grant)
        return 'repeated'
      }
      this.assertTime(grant.expiresAtMs)
      if (await this.insert(grant)) return 'accepted'
    }
  }

  /**
   * The rule of grants: if the event requires one, the player has a grant that a claim can use.
   *
   * @throws {AppError} `grant_required`
   */
  async assertGranted({ event_id: eventId, requires_grant }: Event, address: string): Promise<void> {
    const { db, clock } = this.options
    if (!requires_grant) return
    if (!(await hasGrant(db, { eventId, address, nowMs: clock.nowMs() }))) throw grantRequired()
  }

  /** Deletes grants that expired unused, and secrets that ended. */
  async deleteOld(): Promise<void> {
    const { db, clock } = this.options
    await deleteExpiredGrants(db, { nowMs: clock.nowMs(), batchRows: DELETE_BATCH_ROWS })
    await deleteEndedSecrets(db, clock.nowMs())
  }

  /** @throws {AppError} `invalid_parameter` */
  private assertTime(expiresAtMs: number): void {
    const nowMs = this.options.clock.nowMs()
    if (expiresAtMs > nowMs && expiresAtMs <= nowMs + MAX_GRANT_MS) return
    const [value, now] = [expiresAtMs, nowMs].map((timeMs) => new Date(timeMs).toISOString())
    const allowed = `a time after that of the server, ${now}, and at most ${MAX_GRANT_DAYS} days after it`
    throw new AppError('invalid_parameter', `expires is "${value}", but must be ${allowed}.`, {
      parameter: 'expires',
      value,
      allowed,
    })
  }

  /** @returns false where the nonce was used meanwhile. @throws {AppError} `too_many_grants` */
  private async insert(grant: Grant): Promise<boolean> {
    const { db, clock, maxOpen } = this.options
    const { eventId } = grant
    const open = await this.open.get(String(eventId), async () => ({
      count: await countOpenGrants(db, eventId, clock.nowMs()),
    }))
    if (open.count >= maxOpen) {
      throw new AppError(
        'too_many_grants',
        `This event has ${maxOpen} grants that nobody has used yet. Wait until some are used or expire.`,
      )
    }
    open.count += 1
    let isNew = false
    try {
      isNew = await insertGrant(db, grant)
    } finally {
      if (!isNew) open.count -= 1
    }
    return isNew
  }
}

/** @throws {AppError} `nonce_used` */
function assertSame(known: Grant, grant: Grant): void {
  if (known.address === grant.address && known.expiresAtMs === grant.expiresAtMs) return
  throw new AppError(
    'nonce_used',
    'A grant with this nonce exists for another player, or with another time. Choose a new nonce for a new grant.',
  )
}

/** The refusal of a claim without a grant. */
export function grantRequired(): AppError {
  return new AppError(
    'grant_required',
    'You have not earned this token yet, or your grant has expired. If you have just earned it, try again in a minute.',
  )
}
