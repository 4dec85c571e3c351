import { AppError } from '../../errors.ts'
import type { Captchas } from '../captcha/captchas.ts'
import type { Event } from '../events/event-queries.ts'
import type { SignedFetch } from '../signed-fetch/signed-fetch.ts'
import type { SignedRequest, SingleUse } from '../signed-fetch/signed-request.ts'

/**
 * What a player brings to a claim to prove who they are, as values. Another kind of proof is another member here and
 * another case in {@link proveClaimant}; the rules after that know the {@link Claimant} alone.
 */
export type ClaimProof = SignedProof | CaptchaProof

/** A signed request: the signer is the player. */
export interface SignedProof {
  readonly kind: 'signed-request'
  /** Its signature was checked; nothing has used it up. */
  readonly signed: SignedRequest
  /** What else came with it. Counts only as far as the signature covers it. */
  readonly body: SignedBody
}

/** The fields of a signed claim's body, each as it was sent. */
export interface SignedBody {
  readonly address?: string
  /** The answer to the pending captcha. */
  readonly captcha?: string
  /** The proof of work. */
  readonly proof?: string
}

/** The unsigned claim of an older booth: the player is whoever asked for the captcha that this answer solves. */
export interface CaptchaProof {
  readonly kind: 'captcha'
  /** In lower case. A mere word until the answer is right. */
  readonly address: string
  /** What the player typed; undefined where nothing was sent. */
  readonly answer: string | undefined
}

/** Who claims, proven: all that the rules of presence and supply know of a proof. */
export interface Claimant {
  /** In lower case. */
  readonly address: string
  /** Whether the claim comes from a scene's preview. */
  readonly isPreview: boolean
  /** What proves it and can be used once, while nothing has used it up: making the claim does, in the same statement. */
  readonly unused?: SingleUse
  /** Gives back what the proof cost the player: for a refusal that is not their doing. */
  readonly giveBack?: () => Promise<void>
}

/** What judges a proof. */
export interface ProofCheckers {
  readonly signedFetch: Pick<SignedFetch, 'useUp'>
  readonly captchas: Pick<Captchas, 'solve' | 'checkProof' | 'giveBack' | 'proofOfWorkBits'>
}

/** Counts a request of a player. @throws {AppError} `too_many_requests` */
export type CountPlayer = (address: string) => Promise<void>

/**
 * Who claims. A player is counted as soon as it is known that the request is theirs, and not before: otherwise anybody
 * could use up what the owner of an address may send.
 *
 * @throws {AppError} `too_many_requests`, `bad_signature`, `signature_used`, `captcha_required`, `wrong_captcha`,
 * `proof_of_work_required`
 */
export async function proveClaimant(
  judges: ProofCheckers,
  event: Event,
  proof: ClaimProof,
  countPlayer: CountPlayer,
): Promise<Claimant> {
  switch (proof.kind) {
    case 'signed-request':
      return proveBySignature(judges, event, proof, countPlayer)
    case 'captcha':
      return proveByCaptcha(judges, event, proof, countPlayer)
  }
}

async function proveBySignature(
  { signedFetch, captchas }: ProofCheckers,
  event: Event,
  { signed, body }: SignedProof,
  countPlayer: CountPlayer,
): Promise<Claimant> {
  const { address, isPreview } = signed
  await countPlayer(address)
  const said = coveredBody(signed, body)
  if (!event.requires_captcha && captchas.proofOfWorkBits === 0) return { address, isPreview, unused: signed }
  await signedFetch.useUp(signed)
  const used = await solveOrProve(captchas, event, address, said)
  return { address, isPreview, giveBack: () => captchas.giveBack(used) }
}

async function proveByCaptcha(
  { captchas }: ProofCheckers,
  event: Event,
  { address, answer }: CaptchaProof,
  countPlayer: CountPlayer,
): Promise<Claimant> {
  if (answer === undefined) throw captchaMissing()
  const used = await captchas.solve({ address, eventId: event.event_id, answer })
  await countPlayer(address)
  return { address, isPreview: used.is_preview, giveBack: () => captchas.giveBack(used) }
}

/**
 * The body of a signed claim, as far as the signature covers it.
 *
 * @throws {AppError} `bad_signature` when it names another player
 */
function coveredBody({ address, isBodySigned }: SignedRequest, body: SignedBody): SignedBody {
  if (body.address !== undefined && body.address.toLowerCase() !== address) {
    throw new AppError('bad_signature', 'The address in the body is not the one that signed the request.')
  }
  return isBodySigned ? body : {}
}

/** What a signed claim must bring besides, by the event's settings and the server's. */
async function solveOrProve(
  captchas: ProofCheckers['captchas'],
  event: Event,
  address: string,
  { captcha, proof }: SignedBody,
) {
  if (!event.requires_captcha) {
    return captchas.checkProof({ address, eventUuid: event.uuid, eventId: event.event_id, proof })
  }
  if (captcha === undefined) throw captchaMissing()
  return captchas.solve({ address, eventId: event.event_id, answer: captcha })
}

function captchaMissing(): AppError {
  return new AppError(
    'captcha_required',
    'A captcha is needed to claim: please use an up-to-date booth, ask it for a new image, and type what it shows.',
  )
}
