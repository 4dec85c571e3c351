import type { Transport } from '@landpass/client'
import type { Clock } from '@landpass/server/clock'
import type { SimulatedPlayer } from './player.ts'

/** Signs every request as a scene's `signedFetch` does, and sends it by another transport. */
export function signingTransport(player: SimulatedPlayer, transport: Transport, clock: Clock): Transport {
  return (request) => {
    const { method, url, headers, body } = request
    const signature = player.sign({ method, path: new URL(url).pathname, body, atMs: clock.nowMs() })
    // The desktop client sends this content type even without a body.
    const all = { ...headers, 'content-type': 'application/json', ...signature }
    return transport({ ...request, headers: all })
  }
}
