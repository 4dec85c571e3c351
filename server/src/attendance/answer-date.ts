import type { FastifyInstance } from 'fastify'
import { type Clock, SECOND_MS } from '../clock.ts'

/**
 * Answers of a scope have the time of the clock that opens and closes events: pages show states and countdowns by it
 * (web/src/api/server-clock.ts). It is the time of the answer, not that of the request: an organiser's call may wait for
 * the issuer. The text is made once a second.
 */
export function dateAnswers(scope: FastifyInstance, clock: Clock): void {
  let last = { second: Number.NaN, text: '' }
  scope.addHook('onSend', (_request, reply, _payload, proceed) => {
    const second = Math.floor(clock.nowMs() / SECOND_MS)
    if (second !== last.second) last = { second, text: new Date(second * SECOND_MS).toUTCString() }
    reply.header('date', last.text)
    proceed()
  })
}
