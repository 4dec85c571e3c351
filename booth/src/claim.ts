import { getPlayer } from '@dcl/sdk/players'
import { getRealm } from '~system/Runtime'
import { type Answer, type EventData, send } from './answers.ts'
import { wait } from './frames.ts'
import { findNonce } from './proof-of-work.ts'
import { checkServer } from './server-address.ts'

/** What a claim needs of the scene that draws the booth. */
export interface ClaimOptions {
  /** Where Landpass answers: https, without a slash at its end. */
  readonly server: string
  /** The uuid of the event. */
  readonly event: string
  /** Shows the player how the claim goes. */
  show(notice: Notice): void
  /** Shows the image and a keyboard. Gives what the player typed, or undefined if they closed it. */
  readCaptcha(imageUrl: string): Promise<string | undefined>
  /**
   * For events that need grants: asks the server of your scene, which sends the grant to Landpass if the player has
   * earned the token. True: it has sent one. Leave it out where the event needs none.
   */
  readonly askForGrant?: (() => Promise<boolean>) | undefined
  /** In a rehearsal: the error code with which the server shall refuse the claim. */
  readonly rehearse?: string | undefined
}

/** A sentence for the player. */
export interface Notice {
  /**
   * The state of the claim (`minting`, `pending`, `minted`, or `rehearsed` for a success in a rehearsal), a code of the
   * server's table of errors, or one of this package: `not_connected`, `offline`, `not_typed`, `too_slow`, `not_known`,
   * `not_yet`.
   */
  readonly code: string
  /** In English. */
  readonly sentence: string
  /** Nothing was used up, and no token was made: a player must not take this for a token. */
  readonly isRehearsal: boolean
}

export interface ClaimResult {
  /** The player has the token or will have it, so the booth can be locked. */
  readonly isDone: boolean
  /** Where it is done, and the server has said it: the name of the event, and the address of the token's picture. */
  readonly token?: { readonly name: string; readonly imageUrl: string } | undefined
}

/** What a player reads where nothing else can be said. */
export const NOT_YET: Notice = {
  code: 'not_yet',
  sentence: 'That has not worked yet. Please click the booth again in a minute.',
  isRehearsal: false,
}

/** Statuses of a server that is busy, or whose issuer or presence service does not answer; 0: no answer came. */
const BUSY = [0, 429, 502, 503, 504]
const MOST_REQUESTS = 12
const MOST_WAIT_S = 30
/** Requests of a player who is not at the event, whose position may come some seconds late. */
const MOST_REQUESTS_ELSEWHERE = 4

/**
 * Claims once for a click, with whatever the server asks for: a captcha, a proof of work, a grant.
 *
 * @returns what came of it; the player has read it by then. Never throws for what a server, a proxy or a client answers
 * @throws {RangeError} for a `server` without `http://` or `https://`
 * @example
 * const { isDone } = await claim({ server, event, show: ({ sentence }) => panel.write(sentence), readCaptcha })
 */
export async function claim(options: ClaimOptions): Promise<ClaimResult> {
  const { server, event, rehearse } = options
  checkServer(server)
  if (!(await isInScene())) {
    say(
      options,
      'not_connected',
      'You are not connected to the scene yet. Please try again in a few seconds.',
    )
    return { isDone: false }
  }
  let effort: { readonly captcha?: string; readonly proof?: string } = {}
  let imageUrl: string | undefined
  let pending: Answer | undefined
  let hasAskedForGrant = false
  for (let request = 1; request <= MOST_REQUESTS; request++) {
    const answer = await send('POST', `${server}/claim/${event}`, { ...effort, rehearse })
    switch (answer.code) {
      case 'ok':
        show(options, answer)
        pending = answer.data.claim?.status === 'pending' ? answer : undefined
        // The server goes on by itself; asking again only shows the result, which is not worth another captcha
        if (!pending || effort.captcha) return done(options, answer)
        // A claim that fails meanwhile has used it up
        effort = {}
        await wait(Math.min(answer.retryAfterS, MOST_WAIT_S))
        continue
      case 'already_claimed':
        if (pending) say(options, 'minting', 'The issuer is making your token.', answer.isRehearsal)
        else say(options, answer.code, 'You have a token of this event already.', answer.isRehearsal)
        return done(options, pending)
      case 'wrong_captcha':
      case 'captcha_required': {
        if (effort.captcha) show(options, answer)
        // An answer that is not called wrong may have been right, and only came too late: never ask for it twice
        if (effort.captcha && answer.code === 'captcha_required') return { isDone: false }
        if (request === MOST_REQUESTS) break
        // The same image, as long as the server takes another answer to it
        imageUrl = (answer.data.tries_left ?? 0) > 0 ? imageUrl : undefined
        imageUrl ??= await askForImage(options)
        const captcha = imageUrl && (await readImage(options, imageUrl, answer.isRehearsal))
        if (!captcha) return { isDone: false }
        effort = { captcha }
        continue
      }
      case 'proof_of_work_required': {
        if (effort.proof) {
          tooSlow(options, answer)
          return { isDone: false }
        }
        const proof = await doWork(options, answer)
        if (!proof) return { isDone: false }
        effort = { proof }
        continue
      }
      case 'grant_required':
        if (hasAskedForGrant || !(await isGranted(options))) {
          show(options, answer)
          return { isDone: false }
        }
        hasAskedForGrant = true
        continue
      case 'not_at_event':
        show(options, answer)
        // A captcha is used up by now, and a player should not solve two for a late position.
        if (effort.captcha || request >= MOST_REQUESTS_ELSEWHERE) return { isDone: false }
        // A proof is used up as well
        effort = {}
        await wait(Math.min(answer.retryAfterS, MOST_WAIT_S))
        continue
      default:
        show(options, answer)
        if (!BUSY.includes(answer.status) || answer.retryAfterS > MOST_WAIT_S) return { isDone: false }
        await wait(answer.retryAfterS)
        continue
    }
  }
  if (pending) return done(options, pending)
  options.show(NOT_YET)
  return { isDone: false }
}

function show({ show }: ClaimOptions, { code, sentence, data, isRehearsal }: Answer): void {
  const state = isRehearsal ? 'rehearsed' : (data.claim?.status ?? 'minting')
  show({ code: code === 'ok' ? state : code, sentence, isRehearsal })
}

function say({ show }: ClaimOptions, code: string, sentence: string, isRehearsal = false): void {
  show({ code, sentence, isRehearsal })
}

/** The answer for a player who has a token already does not name the event, which is asked for then. */
async function done({ server, event }: ClaimOptions, answer: Answer | undefined): Promise<ClaimResult> {
  const known = answer?.data.event ?? (await send<EventData>('GET', `${server}/event/${event}`)).data
  const { name, image_url: imageUrl } = known
  return { isDone: true, token: name && imageUrl ? { name, imageUrl } : undefined }
}

/** The presence services know a player's place only after the client has connected to the scene's room. */
async function isInScene(): Promise<boolean> {
  for (let second = 0; second < 10; second++) {
    const { realmInfo } = await getRealm({})
    if (realmInfo?.isPreview) return true // the server says whether claims can be rehearsed
    if (realmInfo?.isConnectedSceneRoom !== false) return true
    await wait(1)
  }
  return false
}

async function isGranted({ askForGrant }: ClaimOptions): Promise<boolean> {
  try {
    return (await askForGrant?.()) === true
  } catch {
    return false
  }
}

/** The address of a new captcha's image. */
async function askForImage(options: ClaimOptions): Promise<string | undefined> {
  const answer = await send('POST', `${options.server}/captcha`)
  if (answer.code === 'ok') return `${options.server}/captcha/${answer.data.uuid}`
  show(options, answer)
  return undefined
}

async function readImage(
  options: ClaimOptions,
  imageUrl: string,
  isRehearsal: boolean,
): Promise<string | undefined> {
  const typed = await options.readCaptcha(imageUrl)
  if (!typed) {
    const sentence = 'You have not typed what the image shows. Click the booth again for another image.'
    say(options, 'not_typed', sentence, isRehearsal)
  }
  return typed
}

/** @param refusal the answer that asks for the work: a rehearsal asks for it on servers that need none, too */
async function doWork(options: ClaimOptions, refusal: Answer): Promise<string | undefined> {
  const answer = await send('POST', `${options.server}/captcha`)
  const address = getPlayer()?.userId.toLowerCase()
  if (answer.code !== 'ok') show(options, answer)
  else if (!answer.data.proof_of_work) show(options, refusal)
  else if (!address)
    say(
      options,
      'not_known',
      'Your account is not known yet. Please click the booth again.',
      answer.isRehearsal,
    )
  else {
    const { challenge, bits } = answer.data.proof_of_work
    const nonce = await findNonce(`${challenge}:${options.event.toLowerCase()}:${address}:`, bits)
    if (nonce !== 'too slow') return nonce
    tooSlow(options, answer)
  }
  return undefined
}

function tooSlow(options: ClaimOptions, { isRehearsal }: Answer): void {
  const sentence = 'Your device was too slow for this claim. Please click the booth again.'
  say(options, 'too_slow', sentence, isRehearsal)
}
