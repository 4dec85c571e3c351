import { setTimeout as pause } from 'node:timers/promises'
import { type Clock, SECOND_MS, SYSTEM_CLOCK } from '../../clock.ts'
import type { SimulatedPlayer } from './player.ts'
import { findNonce, type ProofOfWork } from './proof-of-work.ts'

/** Clients give a scene's request up after so long. */
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
  /** The answer to a captcha that was asked for before, so that none is asked for now. */
  readonly captcha?: string | undefined
  /** Shows an image and gives what a person reads in it. */
  readonly readImage: (png: Buffer) => Promise<string>
  /** Told what is done, a sentence each. */
  readonly say?: (step: string) => void
  readonly clock?: Clock
  /** Pause before an unfinished claim is asked about again, in milliseconds. */
  readonly pendingPauseMs?: number
}

/** What a player has after a claim. */
export interface ClaimedToken {
  readonly eventId: number
  readonly eventUuid: string
  /** `pending` when the server still does not know after several repeats. */
  readonly status: string
}

/** The server said no. */
export class RefusedError extends Error {
  readonly status: number
  readonly code: string
  constructor(answer: Answer) {
    super(answer.error)
    this.name = 'RefusedError'
    this.status = answer.status
    this.code = answer.code
  }
}

/** An event as `GET /event/{id}` tells it. */
export interface BoothEvent {
  readonly id: number
  readonly uuid: string
  readonly name: string
  /** `x,y;x,y` */
  readonly coordinates: string
}

/** @throws {RefusedError} */
export async function readEvent({ server, event }: { server: string; event: string }): Promise<BoothEvent> {
  const answer = await ask(`${server}/event/${event}`, {})
  if (answer.status !== 200) throw new RefusedError(answer)
  return answer.data as unknown as BoothEvent // as the interface documents it; a booth checks no more
}

/**
 * Claims a token as a scene's booth does, over HTTP: what the server asks for besides (a captcha, a proof of work)
 * is done, and an unfinished claim is asked about again.
 *
 * @throws {RefusedError} when the server says no for good
 */
export async function claimLikeABooth(options: BoothOptions): Promise<ClaimedToken> {
  const { say = () => undefined } = options
  const event = await readEvent(options)
  say(`the event is "${event.name}" at ${event.coordinates}; its uuid is ${event.uuid}`)
  const booth = new Booth({ ...options, say }, event)
  const status = await booth.claim()
  return { eventId: event.id, eventUuid: event.uuid, status }
}

interface Captcha {
  readonly uuid: string
  readonly proof_of_work?: ProofOfWork & { readonly algorithm: string }
}

/** One visit of one player: what the server asked for, and what was answered so far. */
class Booth {
  private readonly options: BoothOptions & { readonly say: (step: string) => void }
  private readonly event: BoothEvent
  private captcha: Captcha | undefined
  private answers: { captcha?: string; proof?: string } = {}
  constructor(options: BoothOptions & { readonly say: (step: string) => void }, event: BoothEvent) {
    this.options = options
    this.event = event
    if (options.captcha !== undefined) this.answers.captcha = options.captcha
  }

  async claim(): Promise<string> {
    if (this.options.way === 'captcha') await this.answerCaptcha()
    let answer = await this.sendClaim()
    while (await this.didWhatIsMissing(answer)) answer = await this.sendClaim()
    if (answer.status !== 200) throw new RefusedError(answer)
    return this.untilSettled(statusIn(answer))
  }

  /** Whether the server asked for something that can be given; each is given once. */
  private async didWhatIsMissing({ status, code }: Answer): Promise<boolean> {
    if (status === 200) return false
    if (code === 'captcha_required' && this.answers.captcha === undefined) {
      await this.answerCaptcha()
      return true
    }
    if (code === 'proof_of_work_required' && this.answers.proof === undefined) {
      await this.work()
      return true
    }
    return false
  }

  private async untilSettled(first: string): Promise<string> {
    const { say, pendingPauseMs = PENDING_PAUSE_MS } = this.options
    say(`the claim is ${first}`)
    // An unsigned claim cannot be repeated: its captcha, which says who claims, is used up.
    if (first !== 'pending' || this.options.way === 'captcha') return first
    for (let repeat = 0; repeat < PENDING_REPEATS; repeat++) {
      await pause(pendingPauseMs)
      const answer = await this.sendClaim()
      // It went through meanwhile, and now counts as any other second wish.
      if (answer.code === 'already_claimed') return 'minted'
      if (answer.status !== 200) throw new RefusedError(answer)
      const status = statusIn(answer)
      say(`asked again: the claim is ${status}`)
      if (status !== 'pending') return status
    }
    return 'pending'
  }

  private sendClaim(): Promise<Answer> {
    const { way, player, say, clock = SYSTEM_CLOCK } = this.options
    const path = `/claim/${this.event.uuid}`
    const room = way === 'captcha' ? { room: '' } : {}
    const body = JSON.stringify({ address: player.address, ...room, ...this.answers })
    const signature = way === 'signed' ? player.sign({ method: 'POST', path, body, atMs: clock.nowMs() }) : {}
    say(`claiming, ${way === 'signed' ? 'signed' : 'unsigned'}: POST ${path}`)
    return ask(this.options.server + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...signature },
      body,
    })
  }

  private async answerCaptcha(): Promise<void> {
    if (this.answers.captcha !== undefined) return
    const { server, readImage, say } = this.options
    const { uuid } = await this.getCaptcha()
    const image = `/captcha/${uuid}`
    const response = await fetch(server + image, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    const bytes = Buffer.from(await response.arrayBuffer())
    if (response.status !== 200) throw new RefusedError(readAnswer(response.status, bytes.toString()))
    say(`the captcha's image is at ${image}`)
    this.answers.captcha = await readImage(bytes)
  }

  private async work(): Promise<void> {
    const { proof_of_work: task } = await this.getCaptcha()
    if (task?.algorithm !== 'sha256') throw new Error('the server asks for a proof of work of another kind')
    this.options.say(`working: ${task.bits} zero bits`)
    const claimant = { eventUuid: this.event.uuid, address: this.options.player.address }
    this.answers.proof = findNonce(task, claimant)
    this.options.say(`found the proof ${this.answers.proof}`)
  }

  /** A second one would take the place of the first, whose image may have been answered already. */
  private async getCaptcha(): Promise<Captcha> {
    if (this.captcha) return this.captcha
    const { server, player, say, clock = SYSTEM_CLOCK } = this.options
    const path = '/captcha'
    say(`asking for a captcha, signed: POST ${path}`)
    const answer = await ask(server + path, {
      method: 'POST',
      // With no body at all, and yet with this type: so the desktop client does it.
      headers: {
        'content-type': 'application/json',
        ...player.sign({ method: 'POST', path, atMs: clock.nowMs() }),
      },
    })
    if (answer.status !== 200) throw new RefusedError(answer)
    this.captcha = answer.data as unknown as Captcha // likewise
    return this.captcha
  }
}

interface Answer {
  readonly status: number
  /** Empty for a success. */
  readonly error: string
  readonly code: string
  readonly data: Readonly<Record<string, unknown>>
}

async function ask(url: string, request: RequestInit): Promise<Answer> {
  const response = await fetch(url, { ...request, signal: AbortSignal.timeout(TIMEOUT_MS) })
  return readAnswer(response.status, await response.text())
}

function readAnswer(status: number, text: string): Answer {
  let body: Partial<Answer>
  try {
    body = JSON.parse(text)
  } catch {
    return { status, error: `the server answered ${status} and no JSON`, code: 'no_json', data: {} }
  }
  return { status, error: body.error ?? '', code: body.code ?? '', data: body.data ?? {} }
}

function statusIn({ data }: Answer): string {
  const { claim } = data as { claim?: { status?: string } }
  return claim?.status ?? 'claimed'
}
