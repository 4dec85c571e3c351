/**
 * What we need of the token issuer. There is one implementation, `poap-issuer.ts`; the words are those of
 * ../../../../docs/attendance/README.md, and the source of every rule is what the issuer documents (see poap-issuer.ts).
 */
export interface Issuer {
  /** @throws {IssuerError} */
  findEvent(eventId: number): Promise<IssuerEvent | undefined>
  /** Whether the edit code is that of the event; false for an event that the issuer does not know. @throws {IssuerError} */
  isEditCode(eventId: number, editCode: string): Promise<boolean>
  /** All codes of an event; empty while the issuer has not approved it. The edit code was judged before. @throws {IssuerError} */
  listCodes(eventId: number, editCode: string): Promise<readonly ListedCode[]>
  /** What became of a code; undefined when the issuer does not know it. @throws {IssuerError} */
  readCode(code: string): Promise<CodeAtIssuer | undefined>
  /**
   * Asks for a token. `secret` is what {@link readCode} said just before.
   *
   * @throws {IssuerError} when it is unknown whether a token was made (`kind` `unavailable`), or when the issuer
   * surely did nothing (`busy`, `refused`): the claim keeps its code in either case.
   */
  mint(request: { code: string; address: string; secret: string }): Promise<MintAnswer>
}

/** An event as the issuer tells it, free of secrets; times as numbers beside the issuer's own text. */
export interface IssuerEvent {
  readonly id: number
  readonly name: string
  /** The issuer's own object, as far as it is public: without `secret_code` and `email`, whatever else is in it. */
  readonly record: Readonly<Record<string, unknown>>
}

export interface ListedCode {
  readonly code: string
  readonly isClaimed: boolean
}

export interface CodeAtIssuer {
  readonly isClaimed: boolean
  /** Who got the token, in lower case; undefined for nobody. May also be an e-mail address. */
  readonly beneficiary: string | undefined
  /** False: it can no longer be used. */
  readonly isActive: boolean
  readonly secret: string
  /** How far the making of the token is: empty before it began. */
  readonly txStatus: 'waiting_tx' | 'pending' | 'passed' | 'failed' | 'bumped' | ''
  readonly txHash: string | undefined
}

/** A definite answer to the wish for a token. */
export type MintAnswer =
  /** The token will be made. */
  | 'accepted'
  | 'player_has_one'
  | 'code_used'
  /** The event or the code is past its last day. */
  | 'expired'
  | 'no_such_code'
  | 'bad_address'
  /** Any other 4xx: final, for a reason that we do not know. */
  | 'rejected'

/**
 * Why there is no definite answer. `unavailable`: no answer in time, or a 5xx, or nonsense: what was asked may have
 * happened. `busy`: too many requests, ask later; nothing happened. `refused`: our key or credentials are not
 * accepted, which only the operator can change; nothing happened.
 */
export type IssuerErrorKind = 'unavailable' | 'busy' | 'refused'

/** Carries no secret and nothing that the issuer said: it can be logged as it is. */
export class IssuerError extends Error {
  readonly kind: IssuerErrorKind
  /** Which call: a method of {@link Issuer}, or `token`. */
  readonly call: string
  readonly status: number | undefined
  readonly retryAfterMs: number | undefined
  constructor(
    kind: IssuerErrorKind,
    facts: {
      readonly call: string
      readonly status?: number | undefined
      readonly retryAfterMs?: number | undefined
    },
  ) {
    super(
      `the issuer is ${kind} (${facts.call}${facts.status === undefined ? '' : `, status ${facts.status}`})`,
    )
    this.name = 'IssuerError'
    this.kind = kind
    this.call = facts.call
    this.status = facts.status
    this.retryAfterMs = facts.retryAfterMs
  }
}
