import type { ClaimState } from '../../db/schema.ts'
import type { CodeAtIssuer, Issuer, MintAnswer } from '../issuers/issuer.ts'
import type { GivenUpCode } from './claim-queries.ts'

/**
 * A transition of a claim. The diagram has all of them; each is one function of claim-queries.ts, and one transaction. Where our
 * own issuer signs, `reserve` and `confirm` are one transaction: see {@link insertClaims}.
 *
 *   (none) ──reserve──▶ reserved ──accept──▶ minting ──confirm──▶ minted    the token exists: on the chain, or signed here
 *                         │  ▲ │                │
 *                         │  └─┘ swap           │               the code cannot be used: the claim takes the next one
 *                         │    doubt          doubt           the issuer does not know the code: see events/event-holds.ts
 *                         │                     │
 *                         ├──────fail───────────┴─▶ failed      a definite refusal; the claim gives up its code, and the
 *                         │                            │        player may claim again (failed ──reserve──▶ reserved)
 *                         └──────release────────▶ released      the player already has a token of the event, or the
 *                                                               issuer gave it to somebody else; the claim stays closed
 *
 * Invariants, which are constraints of the database: a player has at most one claim per event; a code belongs to at
 * most one claim; a claim has a code exactly while it is reserved, minting or minted.
 *
 * One player must never use two codes, and two players must never use one. So a claim with an unknown outcome (no answer,
 * a 5xx) keeps its code. Its next step reads the code at the issuer first, and asks again only with the same code for
 * the same player. Only a definite answer moves a claim.
 */
export type Move =
  /** The issuer accepted: the token will be made. */
  | { readonly kind: 'accept' }
  /** The token exists: on the chain, or signed by our own issuer. */
  | { readonly kind: 'confirm'; readonly txHash: string | undefined }
  /** The code cannot be used: take the next free one. When none is free, the claim fails with `reason`. */
  | { readonly kind: 'swap'; readonly code: GivenUpCode; readonly reason: 'no_codes_left' | 'expired' }
  | { readonly kind: 'fail'; readonly reason: FailReason; readonly code: GivenUpCode }
  /** The issuer does not know a code of its own list. True of one code, or a fault: see events/event-holds.ts. */
  | { readonly kind: 'doubt' }
  /**
   * The claim is closed for good. `already_held`: the player has a token of the event that did not come from this code.
   * `other_beneficiary`: after this claim asked for a token, the code belongs to somebody else. The token may be the
   * player's under another name, so another code could become a second token.
   */
  | { readonly kind: 'release'; readonly reason: 'already_held'; readonly code: 'free' }
  | { readonly kind: 'release'; readonly reason: 'other_beneficiary'; readonly code: 'used_elsewhere' }
  /** Nothing has changed yet. */
  | { readonly kind: 'wait' }

export type FailReason = 'expired' | 'rejected' | 'bad_address' | 'mint_failed' | 'no_codes_left'

/** A claim and its code, as its next step needs them. */
export interface StepClaim {
  readonly state: ClaimState
  readonly address: string
  readonly code: string
  /** Steps with this code that changed nothing. */
  readonly attempts: number
  /** Whether an earlier step asked for a token with this code, and the issuer may have made it. */
  readonly wasAsked: boolean
}

/**
 * How many steps a claim waits with a used code without a named owner: about four minutes. Until then the owner may be
 * this player, from a request that the issuer is still executing. The issuer never names the owner of some codes.
 */
const MAX_STEPS_WITHOUT_OWNER = 20
/**
 * For so many steps, more than an hour, an accepted claim keeps its code, whatever the issuer says of it: its token may
 * still be made, and with another code the player would get a second one.
 */
const STEPS_TO_DOUBT = 20
const OTHER_BENEFICIARY = { kind: 'release', reason: 'other_beneficiary', code: 'used_elsewhere' } as const

/**
 * One step: reads the code at the issuer, asks for the token if the code is unused, and returns the move of the claim.
 *
 * @param beforeMint called immediately before a token is requested; if it throws, none is requested
 * @throws {IssuerError} when the issuer gives no definite answer: the claim stays as it is
 */
export async function nextMove(
  issuer: Pick<Issuer, 'readCode' | 'mint'>,
  claim: StepClaim,
  beforeMint: () => Promise<void>,
): Promise<Move> {
  const known = await issuer.readCode(claim.code)
  if (!canMint(known)) return moveByCode(claim, known)
  const { code, address } = claim
  const answer = await issuer.mint({ code, address, secret: known.secret }, beforeMint)
  if (answer === 'player_has_one' || answer === 'code_used' || answer === 'rejected') {
    // An earlier request of this claim, whose answer was lost, may have made the token; the refusal may say so in
    // unknown words. So the code is read again
    return moveByRefusal(claim, answer, await issuer.readCode(claim.code))
  }
  return moveByAnswer(claim, answer)
}

/** Whether a token can be requested: the code is known, unused and valid. */
function canMint(known: CodeAtIssuer | undefined): known is CodeAtIssuer {
  return known !== undefined && !known.isClaimed && known.isActive
}

/** The move by the state of the code at the issuer, when no token is requested. */
export function moveByCode(claim: StepClaim, known: CodeAtIssuer | undefined): Move {
  if (known === undefined) return moveForUnknownCode(claim)
  if (!known.isClaimed) return moveForInactiveCode(claim)
  if (belongsToPlayer(claim, known)) return moveForOwnCode(claim, known)
  if (known.beneficiary === undefined) {
    if (claim.attempts < MAX_STEPS_WITHOUT_OWNER) return { kind: 'wait' }
    // The issuer never names the owner of this code. After a request of this claim it is the player
    return claim.wasAsked ? { kind: 'accept' } : SWAP_USED_CODE
  }
  // Another code could become a second token
  return claim.wasAsked || claim.state === 'minting' ? OTHER_BENEFICIARY : SWAP_USED_CODE
}

const SWAP_USED_CODE = { kind: 'swap', code: 'used_elsewhere', reason: 'no_codes_left' } as const

/** The issuer lists the code, but does not know it when asked. */
function moveForUnknownCode({ state, attempts }: StepClaim): Move {
  if (state === 'reserved') return { kind: 'doubt' }
  // The issuer accepted the claim, so its token may exist: it never fails, or the player could claim a second one
  return attempts === STEPS_TO_DOUBT ? { kind: 'doubt' } : { kind: 'wait' }
}

/** Whether an earlier request of the claim may still lead to a token. */
function mayBecomeToken({ state, attempts, wasAsked }: StepClaim): boolean {
  if (state === 'minting') return attempts < STEPS_TO_DOUBT
  return wasAsked && attempts < MAX_STEPS_WITHOUT_OWNER
}

function moveForInactiveCode(claim: StepClaim): Move {
  if (mayBecomeToken(claim)) return { kind: 'wait' }
  if (claim.state === 'minting') return { kind: 'fail', reason: 'mint_failed', code: 'void' }
  return { kind: 'swap', code: 'void', reason: 'expired' }
}

/** The move for a code that cannot be decrypted: the issuer cannot be asked about it. */
export function moveForUnreadableCode({
  state,
  wasAsked,
  attempts,
}: Pick<StepClaim, 'state' | 'wasAsked' | 'attempts'>): Move {
  // Its token may exist, and another code could become a second one: until the key is set, the claim waits
  if (state === 'minting' || wasAsked) return { kind: 'wait' }
  // Another process may have the key
  if (attempts < MAX_STEPS_WITHOUT_OWNER) return { kind: 'wait' }
  return { kind: 'swap', code: 'void', reason: 'no_codes_left' }
}

/** Whether the player owns the code: the issuer names the player, or accepted the claim and names no owner. */
function belongsToPlayer({ state, address }: StepClaim, { beneficiary }: CodeAtIssuer): boolean {
  return beneficiary === address || (beneficiary === undefined && state === 'minting')
}

/** The move for a code that the player owns. */
function moveForOwnCode({ state }: StepClaim, { txStatus, txHash }: CodeAtIssuer): Move {
  if (state === 'reserved') return { kind: 'accept' }
  if (txStatus === 'passed') return { kind: 'confirm', txHash }
  if (txStatus === 'failed') return { kind: 'fail', reason: 'mint_failed', code: 'void' }
  return { kind: 'wait' }
}

/** The move by a definite answer that is not about an earlier request. */
export function moveByAnswer(
  claim: StepClaim,
  answer: Exclude<MintAnswer, 'player_has_one' | 'code_used' | 'rejected'>,
): Move {
  const { state } = claim
  switch (answer) {
    case 'accepted':
      return state === 'reserved' ? { kind: 'accept' } : { kind: 'wait' }
    case 'no_such_code':
      // The code was read immediately before, and the issuer called it unused
      return state === 'reserved' ? { kind: 'doubt' } : { kind: 'wait' }
    case 'expired':
    case 'bad_address':
      if (mayBecomeToken(claim)) return { kind: 'wait' }
      return { kind: 'fail', reason: answer, code: 'free' }
  }
}

/** The move by a refusal that may be about an earlier request: the state of the code decides. */
export function moveByRefusal(
  claim: StepClaim,
  answer: 'player_has_one' | 'code_used' | 'rejected',
  known: CodeAtIssuer | undefined,
): Move {
  if (known === undefined || known.isClaimed) return moveByCode(claim, known)
  if (answer === 'player_has_one') return { kind: 'release', reason: 'already_held', code: 'free' }
  if (answer === 'rejected' && !mayBecomeToken(claim))
    return { kind: 'fail', reason: 'rejected', code: 'free' }
  // The answers contradict each other, or the token may still be made: the next step reads the code again
  return { kind: 'wait' }
}
