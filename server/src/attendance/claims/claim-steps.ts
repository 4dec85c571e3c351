import type { ClaimState } from '../../db/schema.ts'
import type { CodeAtIssuer, Issuer, MintAnswer } from '../issuer/issuer.ts'
import type { GivenUpCode } from './claim-queries.ts'

/**
 * The life of a claim. These arrows are all there are; each is one function of claim-queries.ts, and one transaction.
 *
 *   (none) ──reserve──▶ reserved ──accept──▶ minting ──confirm──▶ minted    it is on the chain
 *                         │  ▲ │                │
 *                         │  └─┘ swap: the code │        the issuer says that somebody else used it: the next one
 *                         │                     │
 *                         ├──────fail───────────┴─▶ failed      a definite no; the code is given up, and the player may
 *                         │                            │        claim again (failed ──reserve──▶ reserved)
 *                         └──────release────────▶ released      the player already holds a token of the event: the
 *                                                               code goes back, and the claim stays closed
 *
 * Invariants, which the database keeps as constraints: a player has at most one claim per event; a code belongs to at
 * most one claim; a claim has a code exactly while it is reserved, minting or minted.
 *
 * What must never happen is that one player uses two codes, or that two players use one. So a claim whose outcome is
 * unknown (no answer, a 5xx) keeps its code; whoever looks after it next reads the code at the issuer first, and asks
 * again with the same code for the same player, or not at all. Only a definite answer moves a claim.
 */
export type Move =
  /** The issuer accepted: the token will be made. */
  | { readonly kind: 'accept' }
  /** The token is on the chain. */
  | { readonly kind: 'confirm'; readonly txHash: string | undefined }
  /** The code cannot be used; the next one may. Where there is none, the claim fails for the reason. */
  | { readonly kind: 'swap'; readonly code: GivenUpCode; readonly reason: 'no_codes_left' | 'expired' }
  | { readonly kind: 'fail'; readonly reason: FailReason; readonly code: GivenUpCode }
  /** The player holds a token of the event that did not come from this code. */
  | { readonly kind: 'release' }
  /** Nothing has changed yet. */
  | { readonly kind: 'wait' }

export type FailReason = 'expired' | 'rejected' | 'bad_address' | 'mint_failed' | 'no_codes_left'

/** A claim and its code, as its next step needs them. */
export interface StepClaim {
  readonly state: ClaimState
  readonly address: string
  readonly code: string
  /** Steps with this code that led to nothing. */
  readonly attempts: number
}

/**
 * Steps for which a used code without an owner may be our own request, which the issuer is still at or undoes: some
 * four minutes. Nobody is told the owner of some codes at all, and the player shall not wait for ever.
 */
const MAX_STEPS_WITHOUT_OWNER = 20

/**
 * One step: reads what became of the code, asks for the token where nobody has, and says how the claim moves.
 *
 * @throws {IssuerError} when the issuer gives no definite answer: the claim stays as it is
 */
export async function nextMove(issuer: Pick<Issuer, 'readCode' | 'mint'>, claim: StepClaim): Promise<Move> {
  const known = await issuer.readCode(claim.code)
  if (!shouldAsk(claim, known)) return moveByCode(claim, known)
  const answer = await issuer.mint({ code: claim.code, address: claim.address, secret: known.secret })
  if (answer === 'player_has_one' || answer === 'code_used' || answer === 'rejected') {
    // It may be this claim itself that was served: by a request whose answer was lost, or that came twice. In words
    // that we do not know the issuer may say so, too.
    return moveByRefusal(claim, answer, await issuer.readCode(claim.code))
  }
  return moveByAnswer(claim, answer)
}

/** Only for a code that is there, unused and usable. */
function shouldAsk(_claim: StepClaim, known: CodeAtIssuer | undefined): known is CodeAtIssuer {
  return known !== undefined && !known.isClaimed && known.isActive
}

/** What the code itself tells, where there is nothing to ask for. */
export function moveByCode(claim: StepClaim, known: CodeAtIssuer | undefined): Move {
  if (known?.isClaimed && belongsToPlayer(claim, known)) return moveForOwnCode(claim, known)
  if (known?.isClaimed && !known.beneficiary && claim.attempts < MAX_STEPS_WITHOUT_OWNER)
    return { kind: 'wait' }
  const code: GivenUpCode = known?.isClaimed ? 'used_elsewhere' : 'void'
  const isExpired = known !== undefined && !known.isClaimed && !known.isActive
  // Once it was accepted, another code could become a second token.
  if (claim.state === 'minting') return { kind: 'fail', reason: 'mint_failed', code }
  return { kind: 'swap', code, reason: isExpired ? 'expired' : 'no_codes_left' }
}

/** Once the issuer accepted, a code whose owner it does not name is the player's. */
function belongsToPlayer({ state, address }: StepClaim, { beneficiary }: CodeAtIssuer): boolean {
  return beneficiary === address || (beneficiary === undefined && state === 'minting')
}

/** The code is the player's own by now. */
function moveForOwnCode({ state }: StepClaim, { txStatus, txHash }: CodeAtIssuer): Move {
  if (state === 'reserved') return { kind: 'accept' }
  if (txStatus === 'passed') return { kind: 'confirm', txHash }
  if (txStatus === 'failed') return { kind: 'fail', reason: 'mint_failed', code: 'void' }
  return { kind: 'wait' }
}

/** A definite answer that does not speak of an earlier request. */
export function moveByAnswer(
  { state }: StepClaim,
  answer: Exclude<MintAnswer, 'player_has_one' | 'code_used' | 'rejected'>,
): Move {
  switch (answer) {
    case 'accepted':
      return state === 'reserved' ? { kind: 'accept' } : { kind: 'wait' }
    case 'no_such_code':
      return state === 'reserved'
        ? { kind: 'swap', code: 'void', reason: 'no_codes_left' }
        : { kind: 'fail', reason: 'mint_failed', code: 'void' }
    case 'expired':
    case 'bad_address':
      return { kind: 'fail', reason: answer, code: 'free' }
  }
}

/** "Already", or a no for an unknown reason: whether a token was made, and whose, the code itself tells. */
export function moveByRefusal(
  claim: StepClaim,
  answer: 'player_has_one' | 'code_used' | 'rejected',
  known: CodeAtIssuer | undefined,
): Move {
  if (known === undefined || known.isClaimed) return moveByCode(claim, known)
  if (answer === 'player_has_one') return { kind: 'release' }
  if (answer === 'rejected') return { kind: 'fail', reason: 'rejected', code: 'free' }
  // Used, says the one answer, and unused the other: whoever asks later hears which of them holds.
  return { kind: 'wait' }
}
