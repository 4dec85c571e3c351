import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** What we take over from a caller: nothing that could break a log line or a header. */
const SANE_ID = /^[\w.:-]{1,64}$/

const PREFIX = randomUUID().slice(0, 8)
let count = 0

/** The caller's own `x-request-id` when it is a sane one, otherwise a new one that is unique for this process. */
export function requestId(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id']
  if (typeof given === 'string' && SANE_ID.test(given)) return given
  count += 1
  return `${PREFIX}-${count.toString(36)}`
}
