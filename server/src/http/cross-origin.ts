import type { FastifyReply, FastifyRequest } from 'fastify'
import { COMMON_HEADERS } from './common-headers.ts'

/** Headers of an answer that pages of other origins may read. */
const EXPOSED_HEADERS = [
  'ETag',
  'Retry-After',
  'X-Request-Id',
  'X-Error-Code',
  'X-Drawn',
  'X-Rehearsal',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Organiser-Pass',
]

/** Headers of every answer to a client, besides its request id: pages of all origins may read it. */
export const ANSWER_HEADERS = {
  ...COMMON_HEADERS,
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED_HEADERS.join(', '),
} as const

/**
 * Names and values of headers in turn: Node.js sends such a list sooner than an object, and joining objects takes as long as
 * sending them.
 */
export type HeaderList = readonly string[]

/** Sets headers of an answer that the framework sends. */
export function setHeaders(reply: FastifyReply, headers: HeaderList): FastifyReply {
  for (let at = 0; at < headers.length; at += 2) reply.header(headers[at]!, headers[at + 1])
  return reply
}

/** {@link ANSWER_HEADERS} as a list. */
export const ANSWER_HEADER_LIST: HeaderList = Object.entries(ANSWER_HEADERS).flat()

/** Whether the request is a CORS preflight of a browser: it asks before a page sends the request itself. */
export function isPreflight({ headers }: FastifyRequest): boolean {
  return headers.origin !== undefined && headers['access-control-request-method'] !== undefined
}

/** Headers that allow what a CORS preflight asks for: all headers that it names, `x-identity-auth-chain-0` for example. */
export function preflightHeaders({ headers }: FastifyRequest, methods: string) {
  const names = headers['access-control-request-headers']
  return {
    vary: 'access-control-request-headers',
    'access-control-allow-methods': methods,
    ...(names !== undefined && { 'access-control-allow-headers': names }),
    'access-control-max-age': '86400',
  }
}
