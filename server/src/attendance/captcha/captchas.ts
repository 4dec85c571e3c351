import { createHash, randomBytes, randomInt, randomUUID, timingSafeEqual } from 'node:crypto'
import { type Clock, MINUTE_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { AppError } from '../../errors.ts'
import type { Vault } from '../vault.ts'
import {
  deleteSomeExpired,
  findChallenge,
  findSealed,
  replaceCaptcha,
  restoreCaptcha,
  takeTry,
  type UsedCaptcha,
  useUp,
} from './captcha-queries.ts'
import { drawCaptcha } from './draw-captcha.ts'
import { ALPHABET, LOOK_ALIKES } from './glyphs.ts'
import { ImageCache } from './image-cache.ts'
import { SEED_BYTES } from './keystream.ts'
import { isProof, PROOF_ALGORITHM } from './proof-of-work.ts'

/** How long a captcha waits for its answer. */
export const CAPTCHA_TTL_MS = 2 * MINUTE_MS
/** How many answers it takes, right or wrong. */
export const CAPTCHA_TRIES = 3
/** Five of fourteen characters: who guesses is right once in 537,824 tries. */
export const CAPTCHA_LENGTH = 5

/** Longer than any answer: what is cut off makes none right. */
const MAX_ANSWER_LENGTH = 64
/** 5 MB of them: enough for those who look at the same minute's captchas more than once. */
const MAX_CACHED_IMAGES = 256
const EXPIRED_PER_STATEMENT = 500

/** What became of a captcha or of an answer, for figures. */
export type CaptchaResult = 'created' | 'solved' | 'wrong' | 'missing' | 'proved' | 'not_proved'

export interface CaptchasOptions {
  readonly db: Db
  readonly vault: Vault
  readonly clock: Clock
  /** How many zero bits a proof of work begins with; 0 asks for none. */
  readonly proofOfWorkBits: number
  readonly onResult?: (result: CaptchaResult) => void
}

/**
 * The pending captchas: at most one for each player, in the database, so that every process knows it.
 *
 *   (none) ──create──▶ pending, 3 tries ──solve, wrong──▶ pending, 2 … 0 tries
 *
 * A right answer or a proof of work leads back to (none), from wherever a try is left; `create` leads to three tries
 * from everywhere.
 *
 * Invariants: of right answers that arrive together one counts; the first try binds the captcha to its event; after
 * CAPTCHA_TTL_MS, or without tries, it is as good as gone.
 *
 * The way of the data: a signed request → a random text and a random seed → encrypted into the player's row → drawn
 * when the image is asked for, which takes the uuid alone (the world has pictures fetched by servers of its own) →
 * pixels. The answer comes with the claim, beside the player's address: the old booth sends no uuid.
 */
export class Captchas {
  readonly proofOfWorkBits: number
  private readonly db: Db
  private readonly vault: Vault
  private readonly clock: Clock
  private readonly report: (result: CaptchaResult) => void
  private readonly images = new ImageCache(MAX_CACHED_IMAGES)

  constructor({ db, vault, clock, proofOfWorkBits, onResult = () => {} }: CaptchasOptions) {
    this.db = db
    this.vault = vault
    this.clock = clock
    this.proofOfWorkBits = proofOfWorkBits
    this.report = onResult
  }

  /** A new captcha for the player whose signature asked for it; the one before is gone. */
  async create({ address, isPreview }: NewCaptchaOptions): Promise<{ uuid: string; expiresAtMs: number }> {
    const uuid = randomUUID()
    const expiresAtMs = this.clock.nowMs() + CAPTCHA_TTL_MS
    const secret: Secret = { text: randomText(), seed: randomBytes(SEED_BYTES) }
    await replaceCaptcha(this.db, {
      uuid,
      address: address.toLowerCase(),
      sealed: this.vault.seal('captcha', secretText(secret)),
      is_preview: isPreview,
      tries: CAPTCHA_TRIES,
      expires_at_ms: expiresAtMs,
    })
    this.report('created')
    return { uuid, expiresAtMs }
  }

  /** The PNG, as often as it is asked for while the captcha can be solved. */
  async findImage(uuid: string): Promise<Buffer | undefined> {
    const name = uuid.toLowerCase()
    const sealed = await findSealed(this.db, name, this.clock.nowMs())
    if (!sealed) return undefined
    return this.images.get(name, () => {
      const { text, seed } = parseSecret(this.vault.open('captcha', sealed))
      return drawCaptcha(text, seed)
    })
  }

  /**
   * Judges an answer, which takes a try. Letter case, blanks around and look-alikes (glyphs.ts) do not matter.
   *
   * @returns the captcha, which is gone now: {@link giveBack} undoes that
   * @throws {AppError} `wrong_captcha` with `tries_left`; `captcha_required` when this player has none for this event
   */
  async solve({ address, eventId, answer }: Answer): Promise<UsedCaptcha> {
    const attempt = { address: address.toLowerCase(), eventId, nowMs: this.clock.nowMs() }
    const taken = await takeTry(this.db, attempt)
    if (!taken) throw this.missing()
    const { text } = parseSecret(this.vault.open('captcha', taken.sealed))
    if (!isAnswer(text, answer)) throw this.wrong(taken.tries)
    // Others may have answered right at the same time, or asked for a new captcha: then this one is gone.
    const used = await useUp(this.db, taken.uuid)
    if (!used) throw this.missing()
    this.report('solved')
    return used
  }

  /**
   * Where a proof of work is asked for: looks at it, and uses up the captcha whose uuid was the challenge. The image
   * need not be solved for that, and a wrong proof takes no try.
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
    // Of proofs that arrive together, one uses the captcha up.
    const used = isRight ? await useUp(this.db, uuid) : undefined
    this.report(used ? 'proved' : 'not_proved')
    if (!used) throw proofRequired(bits)
    return used
  }

  /** Undoes {@link solve} and {@link checkProof}: for when it was not the player's doing that they were refused. */
  async giveBack(used: UsedCaptcha): Promise<void> {
    await restoreCaptcha(this.db, { ...used, tries: Math.max(used.tries, 1) })
  }

  /** Takes those away whose time is over. Returns how many. */
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
    return new AppError('wrong_captcha', wrongSentence(triesLeft), { tries_left: triesLeft })
  }
}

export interface NewCaptchaOptions {
  /** The player, proven by a signature. */
  readonly address: string
  readonly isPreview: boolean
}

export interface Answer {
  readonly address: string
  readonly eventId: number
  /** What the player typed. */
  readonly answer: string
}

export interface Proof {
  readonly address: string
  readonly eventUuid: string
  readonly eventId: number
  /** The nonce, if one was sent. */
  readonly proof: string | undefined
}

/** Booths show it to the player as it is; the oldest know no captcha and can never send one. */
const CAPTCHA_REQUIRED =
  'Solve a picture first: none is waiting for your answer (it may have run out, or be used already). Click the booth again to get a new one. If no picture appears, this booth is too old: ask the owner of the scene to update it.'

function wrongSentence(triesLeft: number): string {
  if (triesLeft === 0)
    return 'That is not what the picture shows, and this was its last try. Click the booth again to get a new picture.'
  return `That is not what the picture shows. Look again: ${triesLeft === 1 ? 'one more try' : `${triesLeft} more tries`}.`
}

function proofRequired(bits: number): AppError {
  const sentence =
    'This server asks for a proof of work with every signed claim, and there is none that fits. Ask for a challenge with POST /captcha and send the number that solves it as proof.'
  return new AppError('proof_of_work_required', sentence, { bits, algorithm: PROOF_ALGORITHM })
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

/** Compares hashes, which are equally long whatever was typed, in a time that tells nothing of what they have in common. */
function isAnswer(text: string, answer: string): boolean {
  return timingSafeEqual(hashOf(text), hashOf(readAnswer(answer)))
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** What was typed, look-alikes as the characters that they stand for. Of a long text only the beginning is read. */
function readAnswer(typed: string): string {
  const letters = [...typed.trim().slice(0, MAX_ANSWER_LENGTH).toUpperCase()]
  return letters.map((letter) => LOOK_ALIKES.get(letter) ?? letter).join('')
}
