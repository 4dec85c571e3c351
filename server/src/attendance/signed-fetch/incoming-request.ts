import type { FastifyRequest } from 'fastify'
import { bytesOfBody } from '../../http/json-body.ts'
import type { IncomingRequest } from './signed-request.ts'

/** The parts of a request that a signature can cover. */
export function incomingRequestOf(request: FastifyRequest): IncomingRequest {
  return {
    method: request.method,
    path: request.raw.url?.split('?', 1)[0] ?? '',
    headers: request.headers,
    body: bytesOfBody(request),
  }
}
