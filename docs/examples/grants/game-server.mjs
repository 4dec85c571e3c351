import { createHmac } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'

/** The address of the Landpass server, the uuid of the event, and its secret: never in the scene. */
const { LANDPASS, EVENT, GRANT_SECRET } = process.env

/** Allows a player to claim, for a day. Call it again whenever you are not sure that it has worked. */
export async function allowToken(address, quest) {
  const expires = new Date(Date.now() + 24 * 3600 * 1000).toISOString()
  const body = JSON.stringify({ address, nonce: `${quest}-${address.toLowerCase()}`, expires })
  const signature = createHmac('sha256', GRANT_SECRET).update(`${EVENT}\n${body}`).digest('hex')
  const headers = { 'content-type': 'application/json', 'landpass-signature': signature }
  for (let pauseMs = 1000; ; pauseMs *= 2) {
    const url = `${LANDPASS}/grants/${EVENT}`
    const answer = await fetch(url, { method: 'POST', headers, body }).catch(() => undefined)
    if (answer?.ok) return
    const { code, error } = answer ? await answer.json() : { code: 'offline', error: 'No answer.' }
    if (code === 'nonce_used') return // an earlier call has allowed it
    const isBusy = code === 'offline' || answer.status === 429 || answer.status >= 500
    if (!isBusy || pauseMs > 60_000) throw new Error(error)
    await setTimeout(pauseMs)
  }
}
