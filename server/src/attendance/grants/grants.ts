import { type Clock, HOUR_MS, MINUTE_MS } from '../../clock.ts'
import { DELETE_BATCH_ROWS } from '../../db/all-events.ts'
import type { Db } from '../../db/engine.ts'
import { AppError } from '../../errors.ts'
import type { Event } from '../events/event-queries.ts'
import type { Vault } from '../secrets/vault.ts'
import { deleteEndedSecrets, deleteExpiredGrants, withdrawOpen } from './delete-queries.ts'
import {
  countAllOpenGrants,
  countOpenGrants,
  findGrant,
  findSecrets,
  type Grant,
  hasGrant,
  insertGrant,
  replaceExpiredGrant,
  replaceSecret,
  type TransactionMark,
} from './grant-queries.ts'
import { findSigning, makeSecret, type SignedGrant, wrongForm } from './grant-signature.ts'
import { OpenGrants } from './open-grants.ts'

/** How long a grant may be valid. */
export const MAX_GRANT_DAYS = 7
/** The clock of the program that gives a grant may be so much ahead. */
const CLOCK_AHEAD_MS = 5 * MINUTE_MS
const MAX_GRANT_MS = MAX_GRANT_DAYS * 24 * HOUR_MS + CLOCK_AHEAD_MS

export interface GrantsOptions {
  readonly db: Db
  readonly clock: Clock
  readonly vault: Vault
  /** Open grants at a time: of an event, and of all events. */
  readonly maxOpen: number
  readonly maxOpenOfAll: number
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

/** Who signed a grant. */
export interface Signer {
  readonly eventId: number
  /** The row of the secret, which may end before the grant is stored. */
  readonly secretId: number
}

/**
 * Grants: a program of the organiser, for example the server of a game, says who may claim a token of an event. It signs
 * each grant with a secret of the event. A claim uses a grant up: claims/reserve-queries.ts.
 */
export class Grants {
  private readonly options: GrantsOptions
  private readonly open: OpenGrants
  constructor(options: GrantsOptions) {
    this.options = options
    const { db, clock, maxOpen, maxOpenOfAll } = options
    this.open = new OpenGrants({
      maxOpen,
      maxOpenOfAll,
      countOf: (eventId) => countOpenGrants(db, eventId, clock.nowMs()),
      countAll: () => countAllOpenGrants(db, { nowMs: clock.nowMs(), max: maxOpenOfAll }),
    })
  }

  /**
   * Makes a new secret of an event. The one before ends now, or after `keepPreviousMs`; any earlier one ends now. It is
   * the current one before grants are withdrawn. If withdrawing fails, the secret was not shown: a second call withdraws the rest.
   * Withdrawn are grants that were stored before the secret was made, so those signed with it, or with a later one, stay.
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
    const encrypted = vault.encrypt('grant-secret', secret, String(eventId))
    const previousUntilMs = nowMs + keepPreviousMs
    const { hadOne, storedBefore } = await replaceSecret(db, { eventId, encrypted, nowMs, previousUntilMs })
    const withdrawn = withdrawsOpen ? await this.withdrawOpen(eventId, storedBefore) : 0
    return { secret, previousEndsAtMs: hadOne ? previousUntilMs : null, withdrawn }
  }

  /**
   * The event of a signed grant. An unknown event, one without a secret, one that is over and one that is not
   * approved are answered like a wrong signature.
   *
   * @throws {AppError} `bad_grant`
   */
  async findSigner(grant: SignedGrant): Promise<Signer> {
    const { db, clock, vault } = this.options
    const form = wrongForm(grant.signature)
    if (form !== undefined) throw wronglyFormed(form)
    const found = await findSecrets(db, grant.uuid, clock.nowMs())
    const event = String(found?.eventId)
    const secrets = (found?.secrets ?? []).flatMap(({ id, encrypted }) =>
      vault.canDecrypt('grant-secret', encrypted, event)
        ? [{ id, text: vault.decrypt('grant-secret', encrypted, event) }]
        : [],
    )
    const right = findSigning(secrets.length > 0 ? secrets : [{ id: 0, text: makeSecret() }], grant)
    if (found && right) return { eventId: found.eventId, secretId: right.id }
    throw badGrant()
  }

  /**
   * Stores a grant, after its signature was found right. The same grant again changes nothing. One that expired unused
   * leaves its nonce to the next grant, as if its row was deleted already.
   *
   * @param secretId the secret that {@link findSigner} found
   * @param sentTime the end of the grant as it was sent, for a refusal
   * @throws {AppError} `bad_grant` where the secret has ended meanwhile, `nonce_used`, `too_many_grants`
   */
  async give(
    grant: Grant,
    secretId: number,
    sentTime = new Date(grant.expiresAtMs).toISOString(),
  ): Promise<'accepted' | 'repeated'> {
    const { db, clock } = this.options
    for (;;) {
      const nowMs = clock.nowMs()
      const known = await findGrant(db, grant)
      if (known && isSame(known, grant)) return 'repeated'
      if (known && (known.isUsed || known.expiresAtMs > nowMs)) throw nonceUsed()
      this.assertTime(grant.expiresAtMs, sentTime)
      const signed = { grant, secretId, nowMs }
      const store = () => (known ? replaceExpiredGrant(db, signed) : insertGrant(db, signed))
      const stored = await this.open.store(grant.eventId, store)
      if (stored === 'secret_ended') throw badGrant()
      if (stored === 'stored') return 'accepted'
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
    try {
      await deleteExpiredGrants(db, { nowMs: clock.nowMs(), batchRows: DELETE_BATCH_ROWS })
    } finally {
      await deleteEndedSecrets(db, clock.nowMs())
    }
  }

  /** @throws {AppError} `invalid_parameter` */
  private assertTime(expiresAtMs: number, sentTime: string): void {
    const nowMs = this.options.clock.nowMs()
    if (expiresAtMs > nowMs && expiresAtMs <= nowMs + MAX_GRANT_MS) return
    const now = new Date(nowMs).toISOString()
    const allowed = `a time after that of the server, ${now}, and at most ${MAX_GRANT_DAYS} days after it`
    throw new AppError('invalid_parameter', `expires is "${sentTime}", but must be ${allowed}.`, {
      parameter: 'expires',
      value: sentTime,
      allowed,
    })
  }

  private async withdrawOpen(eventId: number, storedBefore: TransactionMark): Promise<number> {
    const { db, clock } = this.options
    const limits = { nowMs: clock.nowMs(), batchRows: DELETE_BATCH_ROWS, storedBefore }
    try {
      return await withdrawOpen(db, eventId, limits)
    } finally {
      this.open.forget(eventId)
    }
  }
}

function isSame(known: Grant, grant: Grant): boolean {
  return known.address === grant.address && known.expiresAtMs === grant.expiresAtMs
}

function badGrant(): AppError {
  return new AppError(
    'bad_grant',
    'The signature does not fit this event and body. Check the uuid, the secret, and that the signed bytes are the sent ones.',
  )
}

/** @param form what is wrong with the header */
function wronglyFormed(form: string): AppError {
  return new AppError(
    'bad_grant',
    `The header Landpass-Signature ${form}. It must be the HMAC-SHA256 of the grant as 64 hex digits.`,
  )
}

function nonceUsed(): AppError {
  return new AppError(
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
