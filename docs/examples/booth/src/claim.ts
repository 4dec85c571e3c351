import { engine } from '@dcl/sdk/ecs'
import { getPlayer } from '@dcl/sdk/players'
import { sha256 } from '@noble/hashes/sha2.js' // npm install @noble/hashes; only for proofs of work
import { getRealm } from '~system/Runtime'
import { signedFetch } from '~system/SignedFetch'

export interface Booth {
  /** Where Landpass answers: https, without a slash at its end. */
  server: string
  /** The uuid of the event. */
  event: string
  show(sentence: string): void
  /** Shows the image and a text field. Gives what the player typed, or undefined if they closed it. */
  readCaptcha(imageUrl: string): Promise<string | undefined>
  /**
   * For events that need grants: asks the server of your scene, which sends the grant to Landpass if the player has
   * earned the token. True: it has sent one. Leave it out where the event needs none.
   */
  askForGrant?(): Promise<boolean>
  /** In a rehearsal: the error code with which the server shall refuse the claim. */
  rehearse?: string
}

/** What the answers to claims and captchas have. */
interface Data {
  claim?: { status: string; message?: string; retry_after_s?: number }
  uuid?: string
  proof_of_work?: { challenge: string; bits: number } | null
  rehearsal?: boolean
  retry_after_s?: number
}

interface Answer {
  status: number
  /** `ok` for a success. */
  code: string
  sentence: string
  data: Data
  /** When the server expects to have news. */
  retryAfterS: number
  /** Nothing was used up, and no token was made. */
  isRehearsal: boolean
}

const MOST_REQUESTS = 12
const MOST_WAIT_S = 30
const HASHES_PER_FRAME = 2_000

/** Claims once for a click. True: the player has the token or will have it, so the booth can be locked. */
export async function claim(booth: Booth): Promise<boolean> {
  if (!(await isInScene())) {
    booth.show('You are not connected to the scene yet. Please try again in a few seconds.')
    return false
  }
  let effort: { captcha?: string; proof?: string } = {}
  let isPending = false
  let hasAskedForGrant = false
  for (let request = 1; request <= MOST_REQUESTS; request++) {
    const answer = await send(booth, `/claim/${booth.event}`, { ...effort, rehearse: booth.rehearse })
    switch (answer.code) {
      case 'ok':
        show(booth, answer)
        isPending = answer.data.claim?.status === 'pending'
        // The server goes on by itself; asking again only shows the result, which is not worth another captcha
        if (!isPending || effort.captcha) return true
        await wait(Math.min(answer.retryAfterS, MOST_WAIT_S))
        continue
      case 'already_claimed':
        show(
          booth,
          answer,
          isPending ? 'The issuer is making your token.' : 'You have a token of this event already.',
        )
        return true
      case 'wrong_captcha':
      case 'captcha_required': {
        if (effort.captcha) show(booth, answer)
        // An answer that is not called wrong may have been right, and only came too late: never ask for it twice
        if (effort.captcha && answer.code === 'captcha_required') return false
        if (request === MOST_REQUESTS) break
        const captcha = await askForCaptcha(booth)
        if (!captcha) return false
        effort = { captcha }
        continue
      }
      case 'proof_of_work_required': {
        if (effort.proof) {
          show(booth, answer, 'Your device was too slow for this claim. Please click the booth again.')
          return false
        }
        const proof = await askForWork(booth)
        if (!proof) return false
        effort = { proof }
        continue
      }
      case 'grant_required':
        if (hasAskedForGrant || !(await booth.askForGrant?.())) {
          show(booth, answer)
          return false
        }
        hasAskedForGrant = true
        continue
      case 'not_at_event':
        show(booth, answer)
        // Positions come some seconds late. A captcha is used up by now, and a player should not solve two for that.
        if (effort.captcha || request > 3) return false
        await wait(Math.min(answer.retryAfterS, MOST_WAIT_S))
        continue
      case 'too_many_requests':
      case 'issuer_unavailable':
      case 'presence_unavailable':
      case 'database_unavailable':
      case 'try_later':
        show(booth, answer)
        if (answer.retryAfterS > MOST_WAIT_S) return false
        await wait(answer.retryAfterS)
        continue
      default:
        show(booth, answer)
        return false
    }
  }
  if (!isPending) booth.show('That has not worked yet. Please click the booth again in a minute.')
  return isPending
}

/** A player must not take a rehearsal for a token. */
function show(booth: Booth, { isRehearsal, sentence }: Answer, words = sentence): void {
  booth.show(isRehearsal ? `Rehearsal: ${words}` : words)
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

async function askForCaptcha(booth: Booth): Promise<string | undefined> {
  const answer = await send(booth, '/captcha')
  if (answer.code !== 'ok') {
    show(booth, answer)
    return undefined
  }
  const typed = await booth.readCaptcha(`${booth.server}/captcha/${answer.data.uuid}`)
  if (!typed) booth.show('You have not typed what the image shows. Click the booth again for another image.')
  return typed
}

async function askForWork(booth: Booth): Promise<string | undefined> {
  const answer = await send(booth, '/captcha')
  const address = getPlayer()?.userId.toLowerCase()
  if (answer.code === 'ok' && answer.data.proof_of_work && address) {
    const { challenge, bits } = answer.data.proof_of_work
    return findNonce(`${challenge}:${booth.event.toLowerCase()}:${address}:`, bits)
  }
  show(
    booth,
    answer,
    answer.code === 'ok' ? 'Your account is not known yet. Please click the booth again.' : undefined,
  )
  return undefined
}

/** Works for a short time in each frame, so that the scene keeps moving. */
function findNonce(beginning: string, bits: number): Promise<string> {
  let nonce = 0
  return new Promise((resolve) => {
    const search = () => {
      for (const end = nonce + HASHES_PER_FRAME; nonce < end; nonce++) {
        const text = beginning + nonce
        const hash = sha256(Uint8Array.from(text, (character) => character.charCodeAt(0)))
        if (zeroBits(hash) < bits) continue
        engine.removeSystem(search)
        return resolve(String(nonce))
      }
    }
    engine.addSystem(search)
  })
}

function wait(seconds: number): Promise<void> {
  return new Promise((resolve) => {
    const count = (passed: number) => {
      seconds -= passed
      if (seconds > 0) return
      engine.removeSystem(count)
      resolve()
    }
    engine.addSystem(count)
  })
}

function zeroBits(hash: Uint8Array): number {
  const first = hash.findIndex((byte) => byte !== 0)
  return first < 0 ? 8 * hash.length : 8 * first + Math.clz32(hash[first]) - 24
}

async function send({ server }: Booth, path: string, body?: object): Promise<Answer> {
  try {
    const init = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    }
    const response = await signedFetch({ url: server + path, init })
    return readAnswer(response.status, response.body, response.headers)
  } catch {
    const sentence = 'The token server does not answer, or you are not signed in.'
    return { status: 0, code: 'try_later', sentence, data: {}, retryAfterS: 5, isRehearsal: false }
  }
}

function readAnswer(status: number, body: string, headers: Record<string, string> = {}): Answer {
  const { ok, data = {}, error = body, code = headers['x-error-code'] ?? codeOf(status, error) } = parse(body)
  // A proxy in between may answer with nothing, or with a page
  const isSentence = error !== '' && !error.startsWith('<')
  const refusal = isSentence
    ? error
    : `The token server has a problem (status ${status}). Please try again later.`
  const sentence = ok ? (data.claim?.message ?? '') : refusal
  const wait =
    headers['retry-after'] ?? headers['Retry-After'] ?? data.claim?.retry_after_s ?? data.retry_after_s
  const isRehearsal = data.rehearsal === true || (headers['x-rehearsal'] ?? headers['X-Rehearsal']) === 'true'
  return { status, code: ok ? 'ok' : code, sentence, data, retryAfterS: Number(wait) || 5, isRehearsal }
}

function parse(body: string): { ok?: boolean; data?: Data; error?: string; code?: string } {
  try {
    const json = JSON.parse(body)
    return typeof json === 'object' && json !== null ? json : { error: String(json) }
  } catch {
    return {}
  }
}

/** The current desktop client gives a scene only the sentence of a failure. Used if the header is missing as well. */
function codeOf(status: number, sentence: string): string {
  if (sentence === 'Address already claimed a code for this event') return 'already_claimed'
  if (/proof of work/i.test(sentence)) return 'proof_of_work_required'
  if (/not what the image shows/i.test(sentence)) return 'wrong_captcha'
  if (/captcha/i.test(sentence)) return 'captcha_required'
  if (/not earned this token/i.test(sentence)) return 'grant_required'
  if (/not at the event/i.test(sentence)) return 'not_at_event'
  return [429, 502, 503, 504].includes(status) ? 'try_later' : 'refused'
}
