import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../../clock.ts'
import type { Db } from '../../../db/engine.ts'
import { eventName } from '../../events/event-json.ts'
import { findEvent } from '../../events/event-queries.ts'
import { IssuerError, type IssuerEvent } from '../issuer.ts'
import type { TokenKeys } from './keys/token-keys.ts'
import { hashOfEditCode } from './made-events/edit-code.ts'
import { findMadeEvent, markAnswered } from './made-events/made-event-queries.ts'
import { validHashes } from './made-events/named-code-queries.ts'
import {
  findTokenOf,
  isSigned,
  newToken,
  type PreparedToken,
  renewMessage,
  storeSignature,
} from './tokens/token-queries.ts'

export interface OwnIssuerOptions {
  readonly db: Db
  readonly clock: Clock
  readonly keys: Pick<TokenKeys, 'current' | 'signToken' | 'maySign' | 'forgetTimes'>
}

/** What a message takes from its event. */
interface NamedEvent {
  readonly uuid: string
  readonly coordinates: string
  readonly issuer_record: Readonly<Record<string, unknown>>
}

/**
 * The issuer of events that were made here. It calls no other service: a token is a signature over a message, and both are
 * stored with the claim. Where the signature is missing, signing the message again gives the same bytes, so a claim cannot
 * become two tokens, whatever fails when.
 */
export class OwnIssuer {
  private readonly options: OwnIssuerOptions
  constructor(options: OwnIssuerOptions) {
    this.options = options
  }

  async findEvent(eventId: number): Promise<IssuerEvent | undefined> {
    const event = await findEvent(this.options.db, { eventId })
    return event && { id: eventId, name: eventName(event), record: event.issuer_record }
  }

  async isEditCode(eventId: number, editCode: string): Promise<boolean> {
    const { db } = this.options
    const made = await findMadeEvent(db, eventId)
    const hash = hashOfEditCode(editCode)
    const isFirst = timingSafeEqual(made?.edit_code_hash ?? hashOfEditCode(''), hash)
    if (made === undefined) return false
    if (!isFirst) return (await validHashes(db, eventId)).some((valid) => timingSafeEqual(valid, hash))
    // Who has the code got the answer, also where the server was killed before that was stored
    if (!made.is_answered) await markAnswered(db, [eventId])
    return true
  }

  /**
   * Signs the message that is stored with a claim; the same bytes, whoever does it.
   *
   * @param beforeSend called before the signature is stored; if it throws, none is
   * @throws {IssuerError} where nothing was stored: the next step of the claim reads the message and the keys again
   */
  async sign(
    { eventId, address }: { readonly eventId: number; readonly address: string },
    beforeSend: () => Promise<void>,
  ): Promise<void> {
    const { db, keys, clock } = this.options
    const token = await findTokenOf(db, eventId, address)
    if (!token) throw new IssuerError('refused', { call: 'sign' }) // damaged data
    if (isSigned(token)) return
    if (!(await keys.maySign(token.signer, token.timeS))) {
      // Its key was withdrawn, or is not here: no signature of this message was ever shown
      const signer = await keys.current()
      await renewMessage(db, token, { signer, timeS: Math.floor(clock.nowMs() / 1000) })
      throw new IssuerError('busy', { call: 'sign' })
    }
    const signature = keys.signToken(token)
    await beforeSend()
    if (await storeSignature(db, token, signature)) return
    // Another process has signed the token or changed its message, or the key has ended
    keys.forgetTimes()
    throw new IssuerError('busy', { call: 'sign' })
  }

  /**
   * Makes and signs the token of a player who is about to claim, or to whom the organiser gives one. No answer, list or log
   * shows it before it is stored together with the claim.
   *
   * @throws {AppError} `attendance_not_configured` where no key signs now
   */
  async prepare(event: NamedEvent, address: string, isGiven = false): Promise<PreparedToken> {
    const { keys, clock } = this.options
    const { uuid, coordinates } = event
    const token = newToken(
      { uuid, name: eventName(event), coordinates },
      { signer: await keys.current(), nowMs: clock.nowMs(), isGiven },
    )
    return { ...token, ...keys.signToken({ ...token, address }) }
  }
}
