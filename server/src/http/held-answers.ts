import { BoundedCache } from '../bounded-cache.ts'
import type { Answer, AnswerOfAddress } from './answer.ts'
import { CompressedForms } from './compressed-bodies.ts'
import type { ContentEncoding } from './content-encoding.ts'
import { bytesOfWhole, ownBody, sentBytes, type WholeBody } from './whole-body.ts'

/** Some seven hundred pages of twenty parcels, each also with gzip and brotli. */
const HELD_BYTES = 24 * 1024 * 1024
/** An answer without its body. */
const ANSWER_BYTES = 1536

/** The answer of an address, and its body as it was sent. */
export class HeldAnswer {
  readonly answer: Answer
  private readonly forms: CompressedForms
  private readonly heldBytes: number
  private readonly onGrown: (held: HeldAnswer) => void
  private body: WholeBody | undefined

  /**
   * @param heldBytes memory that the answer holds, beyond a few numbers and short texts
   * @param onGrown called when it holds more bytes than before
   */
  constructor(answer: Answer, heldBytes: number, onGrown: (held: HeldAnswer) => void) {
    this.answer = answer
    this.heldBytes = heldBytes
    this.onGrown = onGrown
    this.forms = new CompressedForms(() => onGrown(this))
  }

  get bytes(): number {
    return ANSWER_BYTES + this.heldBytes + (this.body?.bytes ?? 0) + this.forms.bytes
  }

  /** The whole body, uncompressed; undefined unless it is held. */
  get whole(): WholeBody | undefined {
    return this.body
  }

  /** Holds a body that was made, unless it is large. @returns the body to send: the held one, or that which was not held */
  holdWhole(whole: WholeBody): WholeBody {
    if (this.body) return this.body
    this.body = ownBody(whole)
    if (!this.body) return whole
    this.onGrown(this)
    return this.body
  }

  /** The compressed body; undefined where it was not made yet. */
  compressed(encoding: ContentEncoding): WholeBody | undefined {
    const form = this.forms.made(encoding)
    return form && sentBytes(form)
  }

  /** Compresses the body, once for all clients. */
  compress(encoding: ContentEncoding, whole: WholeBody): Buffer | Promise<Buffer> {
    return this.forms.bytesIn(encoding, () => bytesOfWhole(whole))
  }
}

export interface AnswerNow {
  readonly answer: Answer
  /** Undefined if it cannot be held. */
  readonly held: HeldAnswer | undefined
}

/**
 * The answers of addresses that are requested again and again, with their bodies, for as long as nothing changes of which they are made.
 * Without it, a list that a hundred clients read in the seconds between two blocks would be made and compressed for each of them.
 */
export class HeldAnswers {
  private readonly answers = new BoundedCache<HeldAnswer>(HELD_BYTES)
  private readonly moment: () => object
  private heldIn: object | undefined

  /** @param moment gives the same object until an answer changes that has this object as its `moment` */
  constructor(moment: () => object) {
    this.moment = moment
  }

  /** The answer of an address, held or made now. @param heldBytes memory that `make` holds, beyond a few numbers and short texts */
  of(url: string, make: AnswerOfAddress, heldBytes = 0): AnswerNow {
    const moment = this.dropOlder()
    const known = this.answers.get(url)
    if (known) return { answer: known.answer, held: known }
    const answer = make()
    if (answer.moment !== moment) return { answer, held: undefined }
    const held = new HeldAnswer(answer, heldBytes, (grown) => this.resize(url, grown))
    this.answers.set(url, held, held.bytes)
    return { answer, held }
  }

  /** Drops the answers of an earlier moment, which keep in memory what they are made of. @returns the moment of now */
  dropOlder(): object {
    const moment = this.moment()
    if (moment !== this.heldIn) this.answers.clear()
    this.heldIn = moment
    return moment
  }

  private resize(url: string, held: HeldAnswer): void {
    // Not one that was dropped meanwhile: its body is compressed in another thread
    if (this.answers.peek(url) !== held) return
    this.answers.delete(url)
    this.answers.set(url, held, held.bytes)
  }
}
