import { AppError } from '../../errors.ts'
import {
  type CodeAtIssuer,
  type Issuer,
  IssuerError,
  type IssuerEvent,
  type ListedCode,
  type MintAnswer,
  type Sender,
} from '../issuer/issuer.ts'
import { parseOwnCode } from '../issuer/own-codes.ts'
import { isOwnEvent } from '../issuer/own-event-ids.ts'

export interface IssuersOptions {
  /** For events that were made here; undefined where this server has no key that signs. */
  readonly own: Issuer | undefined
  readonly other: Issuer
  /** Settings of the other issuer that are missing: then it is never called. */
  readonly missing: readonly string[]
}

/** Both issuers as one: the number of an event, or the code, says which of them is asked. */
export class Issuers implements Issuer {
  private readonly options: IssuersOptions
  constructor(options: IssuersOptions) {
    this.options = options
  }

  async findEvent(eventId: number): Promise<IssuerEvent | undefined> {
    return this.ofEvent(eventId).findEvent(eventId)
  }

  async isEditCode(eventId: number, editCode: string, by: Sender, from?: string): Promise<boolean> {
    return this.ofEvent(eventId).isEditCode(eventId, editCode, by, from)
  }

  async listCodes(eventId: number, editCode: string): Promise<readonly ListedCode[]> {
    return this.ofEvent(eventId).listCodes(eventId, editCode)
  }

  async readCode(code: string): Promise<CodeAtIssuer | undefined> {
    return this.ofCode(code, 'readCode').readCode(code)
  }

  async mint(
    request: { code: string; address: string; secret: string },
    beforeSend: () => Promise<void>,
  ): Promise<MintAnswer> {
    return this.ofCode(request.code, 'mint').mint(request, beforeSend)
  }

  /** @throws {AppError} `attendance_not_configured` */
  private ofEvent(eventId: number): Issuer {
    const { own, other, missing } = this.options
    const isOwn = isOwnEvent(eventId)
    if (isOwn && own) return own
    if (!isOwn && missing.length === 0) return other
    const names = isOwn ? ['TOKEN_KEY_FILE'] : missing
    throw new AppError(
      'attendance_not_configured',
      `This server was started without ${names.join(', ')}. Ask its operator to correct the settings.`,
      { missing: names },
    )
  }

  /** @throws {IssuerError} `refused`: the claim keeps its code and waits for the settings */
  private ofCode(code: string, call: string): Issuer {
    const { own, other, missing } = this.options
    const isOwn = parseOwnCode(code) !== undefined
    if (isOwn && own) return own
    if (!isOwn && missing.length === 0) return other
    throw new IssuerError('refused', { call })
  }
}
