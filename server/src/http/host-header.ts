import type { IncomingMessage } from 'node:http'

/**
 * How many `Host` headers a request has. Node.js reads the first one and drops the others, of which a proxy before it may
 * have read another one.
 */
export function countHosts({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (name.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count
}
