import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { checkServer } from './server-address.ts'

export interface GrantOptions {
  /** The address of the Landpass server, without a slash at its end. */
  readonly server: string
  /** The uuid of the event. */
  readonly event: string
  /** `EnvVar` and `Storage` of `@dcl/sdk/server`, which only the SDK with authoritative servers has. */
  readonly sdk: {
    readonly EnvVar: { get(key: string): Promise<string> }
    readonly Storage: {
      readonly player: {
        get<T>(address: string, key: string): Promise<T | null>
        set(address: string, key: string, value: unknown): Promise<unknown>
      }
    }
  }
}

/** The name of the event's secret among the variables of the scene. */
const SECRET_NAME = 'GRANT_SECRET'
const DAY_MS = 24 * 3600 * 1000
/** A fetch of this runtime waits for 15 seconds at most, and is not repeated. */
const TRIES = 3

/**
 * Allows a player to claim, for a day. For the scene's own server alone: it signs with the secret `GRANT_SECRET`, which no
 * client may know.
 *
 * @param address of the player, as the signed message of their client has it (`context.from`)
 * @param quest what the player has done: a second grant for the same quest changes nothing
 * @returns false: there was no answer, or the server is busy; call it again later, which sends the same bytes
 * @throws {RangeError} for a `server` without `http://` or `https://`
 * @throws {Error} without the secret, or with the sentence of a refusal
 * @example
 * import { EnvVar, Storage } from '@dcl/sdk/server'
 * await allowToken({ server, event, sdk: { EnvVar, Storage } }, context.from, 'lighthouse')
 */
export async function allowToken(options: GrantOptions, address: string, quest: string): Promise<boolean> {
  const { server, event, sdk } = options
  checkServer(server)
  const secret = await sdk.EnvVar.get(SECRET_NAME)
  if (!secret) throw new Error(`${SECRET_NAME} is not set: npx sdk-commands storage env set`)
  const body = await grantFor(options, address.toLowerCase(), quest)
  const headers = {
    'content-type': 'application/json',
    'landpass-signature': signGrant(secret, event, body),
  }
  for (let tried = 0; tried < TRIES; tried++) {
    const url = `${server}/grants/${event}`
    const answer = await fetch(url, { method: 'POST', headers, body }).catch(() => undefined)
    if (answer?.status === 429) return false
    if (!answer || answer.status >= 500) continue
    // A proxy may answer in the server's place
    const { ok, code, error = `status ${answer.status}` } = await answer.json().catch(() => ({}))
    // The player has claimed with it
    if (ok === true || code === 'nonce_used') return true
    throw new Error(error)
  }
  return false
}

/** The grant as it was sent before, as long as it can be used: this server may have stopped before the answer. */
async function grantFor({ event, sdk }: GrantOptions, address: string, quest: string): Promise<string> {
  const key = `landpass-grant-${event}-${quest}`
  const stored = await sdk.Storage.player.get<string>(address, key)
  if (stored && Date.parse(JSON.parse(stored).expires) > Date.now()) return stored
  const expires = new Date(Date.now() + DAY_MS).toISOString()
  const body = JSON.stringify({ address, nonce: `${quest}-${address}`, expires })
  await sdk.Storage.player.set(address, key, body)
  return body
}

/** HMAC-SHA256 of the uuid, a line feed and the body, in hex. */
function signGrant(secret: string, event: string, body: string): string {
  const signature = hmac(sha256, utf8(secret), utf8(`${event.toLowerCase()}\n${body}`))
  return Array.from(signature, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The bytes of a text, as encodeURIComponent writes them: `%` and two hex digits, or a letter of ASCII. */
function utf8(text: string): Uint8Array {
  const parts = encodeURIComponent(text).match(/%..|./g) ?? []
  return Uint8Array.from(parts, (part) =>
    part.length > 1 ? Number.parseInt(part.slice(1), 16) : part.charCodeAt(0),
  )
}
