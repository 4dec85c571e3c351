/** Headers of an answer that pages of other origins may read. */
export const EXPOSED_HEADERS = [
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

/** The headers that `@fastify/cors` sets on every answer, for answers that are sent without it. */
export const CROSS_ORIGIN_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED_HEADERS.join(', '),
}
