import { createHash } from 'node:crypto'
import type { RawLog } from '../chain-types.ts'

/**
 * A digest of the logs of one block: equal for the same logs, in whichever answer they came.
 *
 * @example
 * logsDigest([]) // ''
 */
export function logsDigest(logs: readonly RawLog[]): string {
  if (logs.length === 0) return ''
  const hash = createHash('sha256')
  for (const { logIndex, address, topics, data, txHash } of logs)
    hash.update(JSON.stringify([logIndex, txHash, address, topics, data]))
  return hash.digest('base64url')
}
