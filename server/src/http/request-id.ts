import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** Ids of clients that are safe in a log line and in a header. */
const SAFE_ID = /^[\w.:-]{1,64}$/

const PREFIX = randomUUID().slice(0, 8)
let count = 0

/** The `x-request-id` of the client if it is safe, otherwise a new id that is unique in this process. */
export function requestId(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id']
  if (typeof given === 'string' && SAFE_ID.test(given)) return given
  count += 1
  return `${PREFIX}-${count.toString(36)}`
}
