import type { IncomingHttpHeaders } from 'node:http'

/** The headers that two answers to the same request have in common: without its time, its id, and what is left of the budget. */
export function lastingHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const {
    date: _date,
    'x-request-id': _id,
    'ratelimit-remaining': _left,
    'ratelimit-reset': _reset,
    ...others
  } = headers
  return others
}
