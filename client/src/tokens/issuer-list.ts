import { isAddress } from './address.ts'
import { fieldsOf, readTimeMs } from './json.ts'
import type { IssuerKey } from './verify.ts'

/**
 * Reads the keys of an issuer from its public list, `/.well-known/attendance-issuers.json`. Tokens of a key that was
 * stolen count only where a log had them before the time at which the list says that it was withdrawn. Where the list names
 * no such time, none of them counts.
 *
 * @param value parsed JSON
 * @param issuer what you call the owner of the list, such as the address that it came from: {@link IssuerKey.issuer}
 * @returns undefined for another value, and for a list in which any key cannot be read
 * @example
 * const list = { issuers: [{ address, from: '2027-01-01T00:00:00Z', until: null, state: 'active' }] }
 * readIssuerList(list, 'https://land.example')
 */
export function readIssuerList(value: unknown, issuer: string): readonly IssuerKey[] | undefined {
  const listed = fieldsOf(value)?.issuers
  if (!Array.isArray(listed)) return undefined
  const keys = listed.map((key) => readKey(key, issuer))
  return keys.every((key) => key !== undefined) ? keys : undefined
}

function readKey(value: unknown, issuer: string): IssuerKey | undefined {
  const { address, from, until, state, withdrawn } = fieldsOf(value) ?? {}
  const fromS = secondsOf(from)
  const untilS = until === null ? undefined : secondsOf(until)
  const withdrawnS = secondsOf(withdrawn)
  const isState = state === 'active' || state === 'retired' || state === 'compromised'
  if (!isAddress(address) || !isState || fromS === undefined) return undefined
  if (until !== null && untilS === undefined) return undefined
  if (withdrawn !== undefined && (withdrawnS === undefined || state !== 'compromised')) return undefined
  return {
    address,
    state,
    issuer,
    from: fromS,
    ...(untilS !== undefined && { until: untilS }),
    ...(withdrawnS !== undefined && { withdrawn: withdrawnS }),
  }
}

function secondsOf(value: unknown): number | undefined {
  const timeMs = readTimeMs(value)
  return timeMs === undefined ? undefined : Math.floor(timeMs / 1000)
}
