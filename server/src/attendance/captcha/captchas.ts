import { createHash, randomBytes, randomInt, randomUUID, timingSafeEqual } from 'node:crypto'
import { BoundedCache } from '../../bounded-cache.ts'
import { type Clock, MINUTE_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { AppError } from '../../errors.ts'
import { ownBytes } from '../../own-memory.ts'
import type { Vault } from '../secrets/vault.ts'
import {
  deleteSomeExpired,
  findChallenge,
  findEncrypted,
  isPendingOfPreview,
  replaceCaptcha,
  restoreCaptcha,
  takeSignedTry,
  takeUnsignedTry,
  type UsedCaptcha,
  useUp,
} from './captcha-queries.ts'
import { drawCaptcha } from './draw-captcha.ts'
import { ALPHABET, LOOK_ALIKES } from './glyphs.ts'
import { SEED_BYTES } from './keystream.ts'
import { isProof, PROOF_ALGORITHM } from './proof-of-work.ts'

/** How long a captcha waits for its answer. */
export const CAPTCHA_TTL_MS = 2 * MINUTE_MS
/** How many answers of its player it takes, and how many unsigned ones of each network address. */
const CAPTCHA_TRIES = 3
/**
 * How many unsigned answers it takes from all network addresses together. A stranger needs 100 addresses to use them up,
 * and then only the unsigned answers to this one captcha are refused. Blind guesses from all of them are right once in
 * 1,793 captchas. Each guess is also a request that LIMIT_CLIENT_PER_MINUTE counts: 120 a minute from one address are
 * right once in three days.
 */
export const UNSIGNED_TRIES = 300
/** Five of fourteen characters: a blind guess is right once in 537,824 tries. */
const CAPTCHA_LENGTH = 5

/** Longer than any right answer; the rest is cut off. */
const MAX_ANSWER_LENGTH = 64
/** Some 250 images: enough for repeated requests of the captchas of the last minute. */
const MAX_IMAGE_BYTES = 5_000_000
const EXPIRED_PER_STATEMENT = 500

/** Result of making or solving a captcha, for metrics. */
export type CaptchaResult = 'created' | 'solved' | 'wrong' | 'missing' | 'proved' | 'not_proved'

export interface CaptchasOptions {
  readonly db: Db
  readonly vault: Vault
  readonly clock: Clock
  /** How many zero bits the hash of a proof of work must begin with; 0: no proof is needed. */
  readonly proofOfWorkBits: number
  readonly onResult?: (result: CaptchaResult) => void
}

/**
 * The pending captchas: at most one for each player, in the database, so that all processes share them.
 *
 *   (none) ──create──▶ pending, 3 tries ──solve, wrong──▶ pending, 2 … 0 tries
 *
 * While a try is left, a right answer or a proof of work leads back to (none). `create` leads to three tries from every
 * state.
 *
 * An unsigned answer can come from any client: older booths send it, and clients that do not sign the body of a claim. So its
 * tries are counted apart from those of signed answers, and by network address: a stranger cannot use up the tries of the
 * player.
 *
 * Invariants: of several right answers at the same time one counts; a right answer binds the captcha to its event, also
 * when it is given back, and a wrong one binds nothing; after CAPTCHA_TTL_MS, or without tries, it cannot be solved.
 *
 * Data flow: a signed request → a random text and a random seed → encrypted in the player's row → drawn as an image when
 * it is requested. The image needs the uuid only, because the world fetches images through its own servers. The answer
 * comes with the claim and is found by the player's address, because the old booth sends no uuid.
 */
export class Captchas {
  readonly proofOfWorkBits: number
  private readonly db: Db
  private readonly vault: Vault
  private readonly clock: Clock
  private readonly report: (result: CaptchaResult) => void
  private readonly images = new BoundedCache<Buffer>(MAX_IMAGE_BYTES)

  constructor({ db, vault, clock, proofOfWorkBits, onResult = () => {} }: CaptchasOptions) {
    this.db = db
    this.vault = vault
    this.clock = clock
    this.proofOfWorkBits = proofOfWorkBits
    this.report = onResult
  }

  /** Makes a new captcha for a player and replaces the pending one. */
  async create({
    address,
    isPreview,
    isGuest = false,
  }: NewCaptchaOptions): Promise<{ uuid: string; expiresAtMs: number }> {
    const uuid = randomUUID()
    const expiresAtMs = this.clock.nowMs() + CAPTCHA_TTL_MS
    const secret: Secret = { text: randomText(), seed: randomBytes(SEED_BYTES) }
    await replaceCaptcha(this.db, {
      uuid,
      address: address.toLowerCase(),
      encrypted: this.vault.encrypt('captcha', secretText(secret), uuid),
      is_preview: isPreview,
      is_guest: isGuest,
      tries: CAPTCHA_TRIES,
      expires_at_ms: expiresAtMs,
    })
    this.report('created')
    return { uuid, expiresAtMs }
  }

  /** Whether the player asked for the pending captcha in a scene's preview. */
  isFromPreview(address: string): Promise<boolean> {
    return isPendingOfPreview(this.db, { address: address.toLowerCase(), nowMs: this.clock.nowMs() })
  }

  /** The image as PNG; undefined when the captcha can no longer be solved. */
  async findImage(uuid: string): Promise<Buffer | undefined> {
    const name = uuid.toLowerCase()
    const encrypted = await findEncrypted(this.db, name, this.clock.nowMs())
    if (!encrypted) return undefined
    const cached = this.images.get(name)
    if (cached) return cached
    const { text, seed } = parseSecret(this.vault.decrypt('captcha', encrypted, name))
    const image = ownBytes(drawCaptcha(text, seed))
    this.images.set(name, image, image.length)
    return image
  }

  /**
   * Checks an answer, which takes a try. Letter case, blanks around it and look-alikes (glyphs.ts) do not matter.
   *
   * @returns the captcha, which is deleted now; {@link giveBack} restores it
   * @throws {AppError} `wrong_captcha` with `tries_left`; `captcha_required` when this player has none for this event, or
   * its tries are used up
   */
  async solve({ address, eventId, answer, unsignedFrom }: Answer): Promise<UsedCaptcha> {
    const attempt = { address: address.toLowerCase(), eventId, nowMs: this.clock.nowMs() }
    const sender = unsignedFrom === undefined ? undefined : this.senderOf(unsignedFrom)
    const taken =
      sender === undefined
        ? await takeSignedTry(this.db, attempt)
        : await takeUnsignedTry(this.db, attempt, {
            sender,
            perSender: CAPTCHA_TRIES,
            total: UNSIGNED_TRIES,
          })
    if (!taken) throw this.missing()
    const { text } = parseSecret(this.vault.decrypt('captcha', taken.encrypted, taken.uuid))
    if (!isAnswer(text, answer)) throw this.wrong(taken.tries_left)
    // Undefined if another right answer came at the same time, or the player has a new captcha
    const used = await useUp(this.db, taken.uuid)
    if (!used) throw this.missing()
    this.report('solved')
    const wrongOnes = sender === undefined ? used.unsigned_tries : withoutOne(used.unsigned_tries, sender)
    return { ...used, event_id: eventId, unsigned_tries: wrongOnes }
  }

  /** The network address is stored as 32 bits of a keyed hash, until the captcha is deleted. */
  private senderOf(networkAddress: string): number {
    return this.vault.fingerprint('captcha', networkAddress).readInt32BE()
  }

  /**
   * Checks a proof of work, and uses up the captcha whose uuid was the challenge. The image need not be solved for that,
   * and a wrong proof takes no try.
   *
   * @throws {AppError} `proof_of_work_required`
   */
  async checkProof({ address, eventUuid, eventId, proof }: Proof): Promise<UsedCaptcha> {
    const bits = this.proofOfWorkBits
    const player = address.toLowerCase()
    const attempt = { address: player, eventId, nowMs: this.clock.nowMs() }
    const uuid = proof === undefined ? undefined : await findChallenge(this.db, attempt)
    const isRight =
      uuid !== undefined &&
      isProof({ uuid, eventUuid: eventUuid.toLowerCase(), address: player }, proof ?? '', bits)
    // One of several proofs at the same time uses the captcha up
    const used = isRight ? await useUp(this.db, uuid) : undefined
    this.report(used ? 'proved' : 'not_proved')
    if (!used) throw proofRequired(bits)
    return { ...used, event_id: eventId }
  }

  /** Undoes {@link solve} or {@link checkProof}, for a refusal that the player did not cause. */
  async giveBack(used: UsedCaptcha): Promise<void> {
    await restoreCaptcha(this.db, { ...used, tries: Math.max(used.tries, 1) })
  }

  /** Deletes expired captchas. Returns how many. */
  async deleteExpired(): Promise<number> {
    const nowMs = this.clock.nowMs()
    let total = 0
    for (;;) {
      const deleted = await deleteSomeExpired(this.db, nowMs, EXPIRED_PER_STATEMENT)
      total += deleted
      if (deleted < EXPIRED_PER_STATEMENT) return total
    }
  }

  private missing(): AppError {
    this.report('missing')
    return new AppError('captcha_required', CAPTCHA_REQUIRED)
  }

  private wrong(triesLeft: number): AppError {
    this.report('wrong')
    return wrongCaptcha(triesLeft)
  }
}

export interface NewCaptchaOptions {
  /** The player, proven by a signature. */
  readonly address: string
  readonly isPreview: boolean
  readonly isGuest?: boolean
}

export interface Answer {
  readonly address: string
  readonly eventId: number
  /** What the player typed. */
  readonly answer: string
  /** The network address that sent the answer without a signature; undefined for an answer that the player signed. */
  readonly unsignedFrom?: string | undefined
}

export interface Proof {
  readonly address: string
  readonly eventUuid: string
  readonly eventId: number
  /** The nonce, if one was sent. */
  readonly proof: string | undefined
}

/** Booths show it to the player unchanged. The oldest booths have no captcha and need an update. */
const CAPTCHA_REQUIRED =
  'No captcha is waiting for your answer. Click the booth again; if no image appears, the scene needs an update.'

export function wrongCaptcha(triesLeft: number): AppError {
  return new AppError('wrong_captcha', wrongSentence(triesLeft), { tries_left: triesLeft })
}

function wrongSentence(triesLeft: number): string {
  if (triesLeft === 0)
    return 'That is not what the image shows, and no try is left. Click the booth again for a new image.'
  return `That is not what the image shows. Look again: ${triesLeft === 1 ? 'one more try' : `${triesLeft} more tries`}.`
}

export function proofRequired(bits: number): AppError {
  const sentence =
    'The proof of work is missing or wrong. Get a challenge with POST /captcha and send its solution as proof.'
  return new AppError('proof_of_work_required', sentence, { bits, algorithm: PROOF_ALGORITHM })
}

function withoutOne(tries: readonly number[], sender: number): number[] {
  const at = tries.lastIndexOf(sender)
  return tries.filter((_, i) => i !== at)
}

interface Secret {
  readonly text: string
  readonly seed: Buffer
}

function randomText(): string {
  return Array.from({ length: CAPTCHA_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
}

function secretText({ text, seed }: Secret): string {
  return `${text} ${seed.toString('hex')}`
}

function parseSecret(written: string): Secret {
  const [text = '', seed = ''] = written.split(' ')
  return { text, seed: Buffer.from(seed, 'hex') }
}

/** Compares hashes of equal length in constant time, so that the time does not reveal how similar the texts are. */
function isAnswer(text: string, answer: string): boolean {
  return timingSafeEqual(hashOf(text), hashOf(normaliseAnswer(answer)))
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** The typed text in upper case, with look-alikes replaced by characters of the alphabet; a long text is cut. */
function normaliseAnswer(typed: string): string {
  const letters = [...typed.trim().slice(0, MAX_ANSWER_LENGTH).toUpperCase()]
  return letters.map((letter) => LOOK_ALIKES.get(letter) ?? letter).join('')
}
