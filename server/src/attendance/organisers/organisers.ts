import { type Clock, MINUTE_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { AppError } from '../../errors.ts'
import { type AboutEvent, askIssuer } from '../issuers/ask-issuer.ts'
import type { Issuer, IssuerEvent, Sender } from '../issuers/issuer.ts'
import { isOwnEvent } from '../issuers/own/own-event-ids.ts'
import type { EditCodeGuard } from './edit-code-guard.ts'
import type { GuessChallenges } from './guess-challenge.ts'
import type { HeldPass, NewPass, OrganiserPasses } from './organiser-passes.ts'

/** For so long after a right edit code the calls about the event go before those of strangers. */
const RIGHT_LATELY_MS = 15 * MINUTE_MS
/** About 100 bytes each. */
const MAX_RIGHT_EVENTS = 10_000

export interface OrganisersOptions {
  /** For storing failures of the issuer, which the organiser's report shows. */
  readonly db: Db
  readonly clock: Clock
  /** Limits guesses of edit codes. */
  readonly guard: Pick<EditCodeGuard, 'judge'>
  readonly challenges: Pick<GuessChallenges, 'check'>
  readonly passes: Pick<OrganiserPasses, 'check' | 'make' | 'revokeAll'>
  readonly issuer: Pick<Issuer, 'findEvent' | 'isEditCode'>
  /** Whether the edit codes of an event are short enough to be guessed. */
  readonly isGuessable: (eventId: number) => boolean
}

/** What a request carries to show that it comes from the organiser. */
export interface Credentials {
  readonly editCode: string
  /** From an earlier answer. */
  readonly pass?: string | undefined
  /** A solved challenge: `<challenge>:<nonce>`. */
  readonly proof?: string | undefined
  /** The network address of the client. */
  readonly from?: string | undefined
}

/** Checks that a request comes from the organiser of an event: the organiser knows its edit code. */
export class Organisers {
  private readonly options: OrganisersOptions
  /** By event: until when its calls go before those of strangers, by the monotonic clock. */
  private readonly rightUntilMs = new Map<number, number>()
  constructor(options: OrganisersOptions) {
    this.options = options
  }

  /**
   * The issuer's record of an event, if the edit code is right. A wrong code, an unknown event and the code of another
   * event get the same error after the same one call, so that neither answer nor time shows which it is. Only a right
   * code leads to the second call.
   *
   * @throws {AppError} `wrong_edit_code`, `too_many_guesses`, `issuer_unavailable`, `issuer_refused`
   */
  async getIssuerEvent(
    eventId: number,
    credentials: Credentials,
  ): Promise<{ readonly found: IssuerEvent; readonly newPass: NewPass | undefined }> {
    const newPass = await this.check(eventId, credentials)
    const found = await askIssuer(() => this.options.issuer.findEvent(eventId))
    if (!found) throw wrongEditCode(eventId)
    return { found, newPass }
  }

  /**
   * Checks the edit code of a registered event, with one call.
   *
   * @returns a pass for a client that has none, or one that ends soon
   * @throws {AppError} `wrong_edit_code`, `too_many_guesses`, `issuer_unavailable`, `issuer_refused`
   */
  assertEditCode(eventId: number, credentials: Credentials): Promise<NewPass | undefined> {
    const { db, clock } = this.options
    return this.check(eventId, credentials, { db, clock, eventId })
  }

  /** Makes all passes of an event invalid. The edit code must have been checked. @returns a new pass */
  async revokePasses(eventId: number): Promise<NewPass> {
    const { passes } = this.options
    await passes.revokeAll(eventId)
    return passes.make(eventId)
  }

  private async check(
    eventId: number,
    { editCode, pass, proof, from }: Credentials,
    about?: AboutEvent,
  ): Promise<NewPass | undefined> {
    const { guard, issuer, passes, challenges, isGuessable } = this.options
    if (!isGuessable(eventId)) {
      if (await issuer.isEditCode(eventId, editCode, 'organiser')) return undefined
      throw wrongEditCode(eventId)
    }
    const held = pass === undefined ? undefined : await passes.check(eventId, pass)
    const solved = proof === undefined ? undefined : challenges.check(eventId, proof)
    let sender: Sender = 'unproven'
    const judge = () =>
      guard.judge(eventId, { passId: held?.id, solved, from }, (by) => {
        sender = this.isRightLately(eventId) ? 'organiser' : by
        return issuer.isEditCode(eventId, editCode, sender, from)
      })
    const isRight = await askIssuer(judge, about && { ...about, withoutBusy: () => sender !== 'organiser' })
    if (!isRight) throw wrongEditCode(eventId)
    this.noteRight(eventId)
    return needsPass(held) ? passes.make(eventId) : undefined
  }

  private isRightLately(eventId: number): boolean {
    return performance.now() < (this.rightUntilMs.get(eventId) ?? 0)
  }

  private noteRight(eventId: number): void {
    this.rightUntilMs.delete(eventId) // the newest is the last in the order of the map
    if (this.rightUntilMs.size >= MAX_RIGHT_EVENTS) {
      this.rightUntilMs.delete(this.rightUntilMs.keys().next().value!)
    }
    this.rightUntilMs.set(eventId, performance.now() + RIGHT_LATELY_MS)
  }
}

function needsPass(held: HeldPass | undefined): boolean {
  return held === undefined || held.isOld
}

function wrongEditCode(eventId: number): AppError {
  return new AppError(
    'wrong_edit_code',
    isOwnEvent(eventId)
      ? 'This server does not know this event together with this edit code. The code was shown once, when it was made; the operator can issue a new one.'
      : "The issuer does not know this event id together with this edit code. Both are in the issuer's e-mail.",
  )
}
