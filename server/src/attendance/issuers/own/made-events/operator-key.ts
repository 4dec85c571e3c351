import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/**
 * Whether a request has the operator's key in the header Operator-Key. Compares hashes, so that neither length nor beginning
 * shows in the time.
 *
 * @param operatorKey undefined: no request is the operator's
 */
export function isOperator(
  { headers }: { readonly headers: IncomingHttpHeaders },
  operatorKey: string | undefined,
): boolean {
  const sent = headers['operator-key']
  if (operatorKey === undefined || typeof sent !== 'string') return false
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(sent), hash(operatorKey))
}
