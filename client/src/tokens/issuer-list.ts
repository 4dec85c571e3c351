import { isAddress } from './address.ts'
import type { IssuerKey } from './verify.ts'

/**
 * Reads the keys of an issuer from its public list, `/.well-known/attendance-issuers.json`. A key that was withdrawn counts
 * until it was stolen only for tokens that a log had before, which {@link IssuerKey} says with `compromised`.
 *
 * @param value parsed JSON
 * @returns undefined for another value
 * @example
 * readIssuerList({ issuers: [{ address, from: '2027-01-01T00:00:00Z', until: null, state: 'active' }] })
 */
export function readIssuerList(value: unknown): readonly IssuerKey[] | undefined {
  const listed = fieldsOf(value)?.issuers
  if (!Array.isArray(listed)) return undefined
  const keys = listed.map(readKey)
  return keys.every((key) => key !== undefined) ? keys : undefined
}

function readKey(value: unknown): IssuerKey | undefined {
  const { address, from, until, state, withdrawn } = fieldsOf(value) ?? {}
  const fromS = secondsOf(from)
  const untilS = until === null ? undefined : secondsOf(until)
  const withdrawnS = secondsOf(withdrawn)
  const isState = state === 'active' || state === 'retired' || state === 'compromised'
  if (!isAddress(address) || !isState || fromS === undefined) return undefined
  if (until !== null && untilS === undefined) return undefined
  return {
    address,
    state,
    from: fromS,
    ...(untilS !== undefined && { until: untilS }),
    ...(withdrawnS !== undefined && { withdrawn: withdrawnS }),
  }
}

function secondsOf(value: unknown): number | undefined {
  const timeMs =
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT.*Z$/.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(timeMs) ? undefined : Math.floor(timeMs / 1000)
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
}
