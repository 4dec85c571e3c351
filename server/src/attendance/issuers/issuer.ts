/**
 * The other token issuer, as far as claims and organisers need it. `poap-issuer.ts` implements it. The terms are those of
 * docs/attendance/README.md; the rules come from the issuer's documentation.
 */
export interface Issuer {
  /** @throws {IssuerError} */
  findEvent(eventId: number): Promise<IssuerEvent | undefined>
  /**
   * Whether the edit code belongs to the event; false for an unknown event, after the same time.
   *
   * @param by what the sender has proved: it decides which calls go first
   * @param from the network address of the sender: a stranger's calls take few places in the queue
   * @throws {IssuerError}
   */
  isEditCode(eventId: number, editCode: string, by: Sender, from?: string): Promise<boolean>
  /** All codes of an event; empty until the issuer approves it. `editCode` must have been checked. @throws {IssuerError} */
  listCodes(eventId: number, editCode: string): Promise<readonly ListedCode[]>
  /** The state of a code; undefined when the issuer does not know it. @throws {IssuerError} */
  readCode(code: string): Promise<CodeAtIssuer | undefined>
  /**
   * Asks for a token. `secret` comes from {@link readCode}, called immediately before.
   *
   * @param beforeSend called when the request is sent next, after every wait for the rate of calls or an access token. If
   * it throws, nothing is sent, and `mint` throws the same
   * @throws {IssuerError} when it is unknown whether a token was made (`kind` `unavailable`), or when the issuer
   * certainly did nothing (`busy`, `refused`). In both cases the claim keeps its code.
   */
  mint(
    request: { code: string; address: string; secret: string },
    beforeSend: () => Promise<void>,
  ): Promise<MintAnswer>
}

/**
 * Who sends an edit code. `organiser`: proved to be one, by a pass or a right code a short time ago. `paid`: sent a proof
 * of work. `unproven`: anybody.
 */
export type Sender = 'organiser' | 'paid' | 'unproven'

/** An event of the issuer, without secrets. */
export interface IssuerEvent {
  readonly id: number
  readonly name: string
  /** The issuer's whole record, without `secret_code` and `email`. */
  readonly record: Readonly<Record<string, unknown>>
}

export interface ListedCode {
  readonly code: string
  readonly isClaimed: boolean
}

export interface CodeAtIssuer {
  readonly isClaimed: boolean
  /** The owner of the token, in lower case: an address or an e-mail address. Undefined where the issuer names none. */
  readonly beneficiary: string | undefined
  /** False when the code can no longer be used. */
  readonly isActive: boolean
  readonly secret: string
  /** Status of the transaction that makes the token; empty before it began. */
  readonly txStatus: 'waiting_tx' | 'pending' | 'passed' | 'failed' | 'bumped' | ''
  readonly txHash: string | undefined
}

/** A definite answer to {@link Issuer.mint}. */
export type MintAnswer =
  /** The token will be made. */
  | 'accepted'
  | 'player_has_one'
  | 'code_used'
  /** The event or the code is past its last day. */
  | 'expired'
  | 'no_such_code'
  | 'bad_address'
  /** Any other 4xx: final, for an unknown reason. */
  | 'rejected'

/**
 * Why there is no definite answer. `unavailable`: no answer in time, a 5xx, or an answer that cannot be parsed; the
 * request may have been executed. `busy`: too many requests, try later; nothing was executed. `refused`: the server's
 * key or credentials are not accepted, which only the operator can correct; nothing was executed.
 */
export type IssuerErrorKind = 'unavailable' | 'busy' | 'refused'

/** Contains no secret and no text of the issuer, so it can be logged. */
export class IssuerError extends Error {
  readonly kind: IssuerErrorKind
  /** A method of {@link Issuer}, or `token`. */
  readonly call: string
  readonly status: number | undefined
  readonly retryAfterMs: number | undefined
  /** With `busy`: only the queue of calls for strangers is full, here in the server; nothing was sent. */
  readonly isQueueFull: boolean
  constructor(
    kind: IssuerErrorKind,
    facts: {
      readonly call: string
      readonly status?: number | undefined
      readonly retryAfterMs?: number | undefined
      readonly isQueueFull?: boolean
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
    this.isQueueFull = facts.isQueueFull ?? false
  }
}
