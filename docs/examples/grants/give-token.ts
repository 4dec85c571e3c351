import { EnvVar, Storage } from '@dcl/sdk/server'
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'

/** The address of the Landpass server, and the uuid of the event. */
const LANDPASS = 'https://landpass.example.org'
const EVENT = '6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11'
const DAY_MS = 24 * 3600 * 1000
/** A fetch of this runtime waits for 15 seconds at most, and is not repeated. */
const TRIES = 3

/**
 * Allows a player to claim, for a day. For the scene's server alone. False: there was no answer; call it again, which sends the
 * same bytes.
 */
export async function allowToken(address: string, quest: string): Promise<boolean> {
  const secret = await EnvVar.get('GRANT_SECRET')
  if (!secret) throw new Error('GRANT_SECRET is not set: npx sdk-commands storage env set')
  const body = await grantFor(address.toLowerCase(), quest)
  const headers = {
    'content-type': 'application/json',
    'landpass-signature': signGrant(secret, EVENT, body),
  }
  for (let tried = 0; tried < TRIES; tried++) {
    const url = `${LANDPASS}/grants/${EVENT}`
    const answer = await fetch(url, { method: 'POST', headers, body }).catch(() => undefined)
    if (answer?.ok) return true
    if (!answer || answer.status === 429 || answer.status >= 500) continue
    const { code, error } = await answer.json()
    if (code === 'nonce_used') return true // the player has claimed with it
    throw new Error(error)
  }
  return false
}

/** The grant as it was sent before, as long as it can be used: this server may have stopped before the answer. */
async function grantFor(address: string, quest: string): Promise<string> {
  const key = `landpass-grant-${quest}`
  const stored = await Storage.player.get<string>(address, key)
  if (stored && Date.parse(JSON.parse(stored).expires) > Date.now()) return stored
  const expires = new Date(Date.now() + DAY_MS).toISOString()
  const body = JSON.stringify({ address, nonce: `${quest}-${address}`, expires })
  await Storage.player.set(address, key, body)
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
