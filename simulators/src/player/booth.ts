import { setTimeout as pause } from 'node:timers/promises'
import {
  attendance,
  type Captcha,
  type Client,
  createClient,
  type EventInfo,
  fetchTransport,
  LandpassError,
} from '@landpass/client'
import { type Clock, SECOND_MS, SYSTEM_CLOCK } from '@landpass/server/clock'
import type { SimulatedPlayer } from './player.ts'
import { findNonce } from './proof-of-work.ts'
import { signingTransport } from './signing-transport.ts'

/** Players' clients cancel a request of a scene after this time. */
const TIMEOUT_MS = 30 * SECOND_MS
const PENDING_REPEATS = 10
const PENDING_PAUSE_MS = 2 * SECOND_MS

export interface BoothOptions {
  /** Origin, without a slash at its end. */
  readonly server: string
  /** The issuer's number of an event, or its uuid. */
  readonly event: string
  readonly player: SimulatedPlayer
  /** `signed` claims as a new booth does; `captcha` as those of 2022: a signed captcha, then an unsigned claim. */
  readonly way: 'signed' | 'captcha'
  /** The answer to a captcha that was requested before; no new one is requested then. */
  readonly captcha?: string | undefined
  /** Shows the image of a captcha and returns the text that a person reads in it. */
  readonly readImage: (png: Uint8Array) => Promise<string>
  /** Called with a sentence about each step. */
  readonly say?: (step: string) => void
  readonly clock?: Clock
  /** Pause before a pending claim is sent again, in milliseconds. */
  readonly pendingPauseMs?: number
}

/** The result of a claim. */
export interface ClaimedToken {
  readonly eventId: number
  readonly eventUuid: string
  /** `pending` where the claim is still pending after all repeats. */
  readonly status: string
}

/** Reads an event from the server. @throws {LandpassError} */
export function readEvent({ server, event }: { server: string; event: string }): Promise<EventInfo> {
  return plainClient(server).send(attendance.event(event))
}

/**
 * Claims a token over HTTP, as the booth of a scene does. Sends a captcha's answer and a proof of work where the server
 * requires them, and repeats a pending claim.
 *
 * @throws {LandpassError} when the server refuses the claim, or cannot be reached
 */
export async function claimLikeABooth(options: BoothOptions): Promise<ClaimedToken> {
  const { say = () => undefined } = options
  const event = await readEvent(options)
  say(`the event is "${event.name}" at ${event.coordinates}; its uuid is ${event.uuid}`)
  const booth = new Booth({ ...options, say }, event)
  const status = await booth.claim()
  return { eventId: event.id, eventUuid: event.uuid, status }
}

type OptionsWithSay = BoothOptions & { readonly say: (step: string) => void }

/** One claim of one player, with the answers that were sent so far. */
class Booth {
  private readonly options: OptionsWithSay
  private readonly event: EventInfo
  /** Sends unsigned requests. */
  private readonly plain: Client
  /** Sends requests that the player signs. */
  private readonly signed: Client
  private captcha: Captcha | undefined
  private answers: { captcha?: string; proof?: string } = {}
  constructor(options: OptionsWithSay, event: EventInfo) {
    const { server, player, clock = SYSTEM_CLOCK } = options
    this.options = options
    this.event = event
    this.plain = plainClient(server)
    this.signed = createClient({ baseUrl: server, transport: signingTransport(player, TRANSPORT, clock) })
    if (options.captcha !== undefined) this.answers.captcha = options.captcha
  }

  async claim(): Promise<string> {
    if (this.options.way === 'captcha') await this.answerCaptcha()
    for (;;) {
      const status = await this.sendClaim().catch((error: unknown) => this.answerChallenge(error))
      if (status !== undefined) return this.repeatWhilePending(status)
    }
  }

  /** Answers a captcha or a proof of work that the server requires, each once. @throws any other error again */
  private async answerChallenge(error: unknown): Promise<undefined> {
    const code = error instanceof LandpassError ? error.code : undefined
    if (code === 'captcha_required' && this.answers.captcha === undefined) await this.answerCaptcha()
    else if (code === 'proof_of_work_required' && this.answers.proof === undefined) await this.proveWork()
    else throw error
  }

  private async repeatWhilePending(first: string): Promise<string> {
    const { say, pendingPauseMs = PENDING_PAUSE_MS } = this.options
    say(`the claim is ${first}`)
    // An unsigned claim cannot be repeated: the captcha that identifies the player is already used.
    if (first !== 'pending' || this.options.way === 'captcha') return first
    for (let repeat = 0; repeat < PENDING_REPEATS; repeat++) {
      await pause(pendingPauseMs)
      const status = await this.sendClaim().catch(undefinedIfClaimed)
      if (status === undefined) return 'minted'
      say(`asked again: the claim is ${status}`)
      if (status !== 'pending') return status
    }
    return 'pending'
  }

  private async sendClaim(): Promise<string> {
    const { way, player, say } = this.options
    const room = way === 'captcha' ? { room: '' } : {}
    const call = attendance.claim(this.event.uuid, { address: player.address, ...room, ...this.answers })
    say(`claiming, ${way === 'signed' ? 'signed' : 'unsigned'}: POST ${call.path}`)
    const { claim } = await (way === 'signed' ? this.signed : this.plain).send(call)
    return claim.status
  }

  private async answerCaptcha(): Promise<void> {
    if (this.answers.captcha !== undefined) return
    const { readImage, say } = this.options
    const { uuid } = await this.getCaptcha()
    const image = attendance.captchaImage(uuid)
    const png = await this.plain.send(image)
    say(`the captcha's image is at ${image.path}`)
    this.answers.captcha = await readImage(png)
  }

  private async proveWork(): Promise<void> {
    const { proof_of_work: task } = await this.getCaptcha()
    if (task?.algorithm !== 'sha256')
      throw new Error('the server requires a proof of work with an unknown algorithm')
    this.options.say(`working: ${task.bits} zero bits`)
    const claimant = { eventUuid: this.event.uuid, address: this.options.player.address }
    this.answers.proof = findNonce(task, claimant)
    this.options.say(`found the proof ${this.answers.proof}`)
  }

  /** Requests one captcha only: a second one would replace the first, which may already be answered. */
  private async getCaptcha(): Promise<Captcha> {
    if (this.captcha) return this.captcha
    const call = attendance.captcha()
    this.options.say(`asking for a captcha, signed: POST ${call.path}`)
    this.captcha = await this.signed.send(call)
    return this.captcha
  }
}

const TRANSPORT = fetchTransport({ timeoutMs: TIMEOUT_MS })

function plainClient(server: string): Client {
  return createClient({ baseUrl: server, transport: TRANSPORT })
}

/** A pending claim that succeeded is refused as `already_claimed` when it is repeated. @throws any other error again */
function undefinedIfClaimed(error: unknown): undefined {
  if (!(error instanceof LandpassError) || error.code !== 'already_claimed') throw error
}
