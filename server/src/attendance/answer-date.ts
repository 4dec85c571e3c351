import type { FastifyInstance } from 'fastify'
import type { Clock } from '../clock.ts'
import { newHttpDate } from '../http/http-date.ts'

/**
 * Answers of a scope have the time of the clock that opens and closes events: pages show states and countdowns by it
 * (web/src/api/server-clock.ts). It is the time of the answer, not that of the request: an organiser's call may wait for
 * the issuer.
 */
export function dateAnswers(scope: FastifyInstance, clock: Clock): void {
  const httpDate = newHttpDate()
  scope.addHook('onSend', (_request, reply, _payload, proceed) => {
    reply.header('date', httpDate(clock.nowMs()))
    proceed()
  })
}
