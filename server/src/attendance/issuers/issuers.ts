import { AppError } from '../../errors.ts'
import {
  type CodeAtIssuer,
  type Issuer,
  IssuerError,
  type IssuerEvent,
  type ListedCode,
  type MintAnswer,
  type Sender,
} from './issuer.ts'
import { isOwnEvent } from './own/own-event-ids.ts'
import type { OwnIssuer } from './own/own-issuer.ts'

export interface IssuersOptions {
  /** For events that were made here; undefined while this server has no key that signs. */
  readonly own: () => OwnIssuer | undefined
  readonly other: Issuer
  /** Settings of the other issuer that are missing: then it is never called. */
  readonly missing: readonly string[]
}

/** Both issuers as one: the number of an event says which of them is asked. Codes are those of the other issuer. */
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
    this.ofEvent(eventId)
    return this.options.other.listCodes(eventId, editCode)
  }

  async readCode(code: string): Promise<CodeAtIssuer | undefined> {
    return this.forCodes('readCode').readCode(code)
  }

  async mint(
    request: { code: string; address: string; secret: string },
    beforeSend: () => Promise<void>,
  ): Promise<MintAnswer> {
    return this.forCodes('mint').mint(request, beforeSend)
  }

  /** Signs the stored message of a claim of an event that was made here. @throws {IssuerError} */
  async sign(...[claim, beforeSend]: Parameters<OwnIssuer['sign']>): Promise<void> {
    const own = this.options.own()
    if (!own) throw new IssuerError('refused', { call: 'sign' })
    await own.sign(claim, beforeSend)
  }

  /** @throws {AppError} `attendance_not_configured` */
  private ofEvent(eventId: number): Pick<Issuer, 'findEvent' | 'isEditCode'> {
    const { other, missing } = this.options
    const own = this.options.own()
    const isOwn = isOwnEvent(eventId)
    if (isOwn && own) return own
    if (!isOwn && missing.length === 0) return other
    throw isOwn ? withoutTokenKey() : notConfigured(missing)
  }

  /** @throws {IssuerError} `refused`: the claim keeps its code and waits for the settings */
  private forCodes(call: string): Issuer {
    const { other, missing } = this.options
    if (missing.length > 0) throw new IssuerError('refused', { call })
    return other
  }
}

/** The error where no key signs tokens of events that were made here. */
export function withoutTokenKey(): AppError {
  return notConfigured(['TOKEN_KEY_FILE'])
}

function notConfigured(missing: readonly string[]): AppError {
  return new AppError(
    'attendance_not_configured',
    `This server was started without ${missing.join(', ')}. Ask its operator to correct the settings.`,
    { missing },
  )
}
