import { AppError } from '../../errors.ts'
import type { Captchas } from '../captcha/captchas.ts'
import type { Event } from '../events/event-queries.ts'
import type { SignedFetch } from '../signed-fetch/signed-fetch.ts'
import type { SignedRequest, SingleUse } from '../signed-fetch/signed-request.ts'

/**
 * What a claim contains to prove who the player is. A new kind of proof is a new member here and a new case in
 * {@link proveClaimant}; the later rules get the {@link Claimant} only.
 */
export type ClaimProof = SignedProof | CaptchaProof

/** A signed request: the signer is the player. */
export interface SignedProof {
  readonly kind: 'signed-request'
  /** The signature is checked, but the request is not used up yet. */
  readonly signed: SignedRequest
  readonly body: SignedBody
  /** The network address of the client, which limits the wrong answers of a body that no signature covers. */
  readonly from: string
}

/**
 * The fields of a signed claim's body, each as it was sent. Two of three clients of the world sign no body: captcha and proof in
 * it count as in an unsigned claim.
 */
export interface SignedBody {
  /** Compared with the signer where the signature covers the body, else ignored. */
  readonly address?: string
  /** The answer to the pending captcha. */
  readonly captcha?: string
  /** The proof of work. */
  readonly proof?: string
}

/** The unsigned claim of an older booth: the player is the one who asked for the captcha that the answer solves. */
export interface CaptchaProof {
  readonly kind: 'captcha'
  /** In lower case. Not proven until the answer is right. */
  readonly address: string
  /** What the player typed; undefined when nothing was sent. */
  readonly answer: string | undefined
  /** The network address of the client, which limits its wrong answers. */
  readonly from: string
}

/** A proven player: all that the rules of presence and codes know of a proof. */
export interface Claimant {
  /** In lower case. */
  readonly address: string
  /** Whether the claim comes from a scene's preview. */
  readonly isPreview: boolean
  readonly isGuest: boolean
  /** The signed request, if it is not used up yet: the statement that inserts the claim uses it up. */
  readonly unused?: SingleUse
  /** Makes the used captcha pending again, for a refusal that the player did not cause. */
  readonly giveBack?: () => Promise<void>
}

/** The parts that check a proof. */
export interface ProofCheckers {
  readonly signedFetch: Pick<SignedFetch, 'useUp'>
  readonly captchas: Pick<Captchas, 'solve' | 'checkProof' | 'giveBack' | 'isFromPreview' | 'proofOfWorkBits'>
}

/** Counts a request of a player. @throws {AppError} `too_many_requests` */
export type CountPlayer = (address: string) => Promise<void>

/**
 * Proves who the player is. The request is counted for the player only after that: otherwise any client could use up
 * the limit of another player.
 *
 * @throws {AppError} `too_many_requests`, `bad_signature`, `signature_used`, `captcha_required`, `wrong_captcha`,
 * `proof_of_work_required`
 */
export async function proveClaimant(
  checkers: ProofCheckers,
  event: Event,
  proof: ClaimProof,
  countPlayer: CountPlayer,
): Promise<Claimant> {
  switch (proof.kind) {
    case 'signed-request':
      return proveBySignature(checkers, event, proof, countPlayer)
    case 'captcha':
      return proveByCaptcha(checkers, event, proof, countPlayer)
  }
}

/**
 * Whether a claim comes from a scene's preview, before it is proven. A claim with a captcha comes from where the player
 * asked for the captcha, with a signature.
 */
export async function isFromPreview(
  { captchas }: Pick<ProofCheckers, 'captchas'>,
  proof: ClaimProof,
): Promise<boolean> {
  return proof.kind === 'captcha' ? captchas.isFromPreview(proof.address) : proof.signed.isPreview
}

/** The player whom a proof names, before it is proven. */
export function claimedAddress(proof: ClaimProof): string {
  return proof.kind === 'captcha' ? proof.address : proof.signed.address
}

async function proveBySignature(
  { signedFetch, captchas }: ProofCheckers,
  event: Event,
  proof: SignedProof,
  countPlayer: CountPlayer,
): Promise<Claimant> {
  const { signed } = proof
  const { address, isPreview, isGuest } = signed
  await countPlayer(address)
  assertNamesSigner(proof)
  if (!event.requires_captcha && captchas.proofOfWorkBits === 0)
    return { address, isPreview, isGuest, unused: signed }
  await signedFetch.useUp(signed, event.event_id)
  const used = await solveOrProve(captchas, event, proof)
  return { address, isPreview, isGuest, giveBack: () => captchas.giveBack(used) }
}

async function proveByCaptcha(
  { captchas }: ProofCheckers,
  event: Event,
  { address, answer, from }: CaptchaProof,
  countPlayer: CountPlayer,
): Promise<Claimant> {
  if (answer === undefined) throw captchaMissing()
  const used = await captchas.solve({ address, eventId: event.event_id, answer, unsignedFrom: from })
  await countPlayer(address)
  return {
    address,
    isPreview: used.is_preview,
    isGuest: used.is_guest,
    giveBack: () => captchas.giveBack(used),
  }
}

/** @throws {AppError} `bad_signature` when a body that the signature covers names another player */
function assertNamesSigner({ signed: { address, isBodySigned }, body }: SignedProof): void {
  if (isBodySigned && body.address !== undefined && body.address.toLowerCase() !== address) {
    throw new AppError('bad_signature', 'The address in the body is not the one that signed the request.')
  }
}

/** Checks the captcha or the proof of work that the event or the server asks for in addition to a signature. */
async function solveOrProve(
  captchas: ProofCheckers['captchas'],
  event: Event,
  { signed: { address, isBodySigned }, body: { captcha, proof }, from }: SignedProof,
) {
  const eventId = event.event_id
  if (!event.requires_captcha) {
    return captchas.checkProof({ address, eventUuid: event.uuid, eventId, proof })
  }
  if (captcha === undefined) throw captchaMissing()
  return captchas.solve({ address, eventId, answer: captcha, unsignedFrom: isBodySigned ? undefined : from })
}

export function captchaMissing(): AppError {
  return new AppError(
    'captcha_required',
    'This claim needs a captcha. Click the booth for an image and type its letters; old booths need an update.',
  )
}
