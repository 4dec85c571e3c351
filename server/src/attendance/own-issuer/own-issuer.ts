import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { eventName } from '../events/event-json.ts'
import { findEvent } from '../events/event-queries.ts'
import {
  type CodeAtIssuer,
  type Issuer,
  IssuerError,
  type IssuerEvent,
  type ListedCode,
  type MintAnswer,
} from '../issuer/issuer.ts'
import { parseOwnCode } from '../issuer/own-codes.ts'
import type { TokenKeys } from './keys/token-keys.ts'
import { hashOfEditCode } from './made-events/edit-code.ts'
import { findMadeEvent, markAnswered } from './made-events/made-event-queries.ts'
import { validHashes } from './made-events/named-code-queries.ts'
import { listOwnCodes } from './made-events/own-code-list.ts'
import {
  findTokenByNumber,
  findTokenOf,
  insertToken,
  isSigned,
  type NewToken,
  newToken,
  type PreparedToken,
  renewMessage,
  type StoredToken,
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
export class OwnIssuer implements Issuer {
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

  async listCodes(eventId: number): Promise<readonly ListedCode[]> {
    return listOwnCodes(this.options.db, eventId)
  }

  async readCode(code: string): Promise<CodeAtIssuer | undefined> {
    const parsed = parseOwnCode(code)
    if (!parsed) return undefined
    const token = await findTokenByNumber(this.options.db, parsed.eventId, parsed.number)
    return {
      isClaimed: token !== undefined,
      beneficiary: token?.address,
      isActive: true,
      secret: '',
      txStatus: token ? 'passed' : '',
      txHash: undefined,
    }
  }

  async mint(
    { code, address }: { readonly code: string; readonly address: string },
    beforeSend: () => Promise<void>,
  ): Promise<MintAnswer> {
    const parsed = parseOwnCode(code)
    if (!parsed) return 'no_such_code'
    const { db, keys } = this.options
    const token = await this.messageOf(parsed.eventId, address)
    if (!token) return 'no_such_code'
    if (isSigned(token)) return 'made'
    if (!(await keys.maySign(token.signer, token.timeS))) {
      // Its key was withdrawn, or is not here: no signature of this message was ever shown
      const signer = await keys.current()
      await renewMessage(db, token.id, { signer, timeS: Math.floor(this.options.clock.nowMs() / 1000) })
      throw new IssuerError('busy', { call: 'mint' })
    }
    const signature = keys.signToken(token)
    await beforeSend()
    if (await storeSignature(db, token, { number: parsed.number, ...signature })) return 'made'
    // Another process has signed the token or changed its message, or the key has ended. The next step of the claim reads them again
    keys.forgetTimes()
    throw new IssuerError('busy', { call: 'mint' })
  }

  /**
   * Makes and signs the token of a player who is about to claim, or to whom the organiser gives one. No answer, list or log
   * shows it before it is stored together with the claim.
   *
   * @throws {AppError} `attendance_not_configured` where no key signs now
   */
  async prepare(event: NamedEvent, address: string, isGiven = false): Promise<PreparedToken> {
    const token = await this.newMessage(event, isGiven)
    const signature = this.options.keys.signToken({ ...token, address })
    return { ...token, ...signature }
  }

  private async newMessage(event: NamedEvent, isGiven = false): Promise<NewToken> {
    const signer = await this.options.keys.current()
    const { uuid, coordinates } = event
    return newToken(
      { uuid, name: eventName(event), coordinates },
      { signer, nowMs: this.options.clock.nowMs(), isGiven },
    )
  }

  /** The stored message of a claim; made now where a server without a key has reserved the claim. */
  private async messageOf(eventId: number, address: string): Promise<StoredToken | undefined> {
    const { db } = this.options
    const stored = await findTokenOf(db, eventId, address)
    if (stored) return stored
    const event = await findEvent(db, { eventId })
    if (!event) return undefined
    await insertToken(db, { eventId, address, token: await this.newMessage(event) })
    return findTokenOf(db, eventId, address)
  }
}
