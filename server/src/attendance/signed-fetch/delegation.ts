import { readTime } from '../../time-text.ts'

/** What a wallet signs when a player signs in: a temporary key may sign for the wallet until an expiry. */
export interface Delegation {
  /** The text that the wallet signed. */
  readonly text: string
  /** The address of the key, in lower case. */
  readonly ephemeralAddress: string
  readonly expiresAtMs: number
}

const DELEGATION =
  /^Decentraland Login\nEphemeral address: (0x[0-9a-fA-F]{40})\nExpiration: (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?(Z|[+-]\d\d:\d\d)?$/

/**
 * Parses the three lines of a delegation. Carriage returns are not part of the signed text. An expiry without a zone
 * is UTC: some versions of the desktop client write it so. Undefined for any other text.
 *
 * @example
 * parseDelegation(`Decentraland Login\nEphemeral address: ${address}\nExpiration: 2026-02-14T12:00:00.000Z`)?.expiresAtMs // 1771070400000
 */
export function parseDelegation(payload: string): Delegation | undefined {
  const text = payload.replaceAll('\r', '')
  const [, address, time, fraction = '', zone = 'Z'] = DELEGATION.exec(text) ?? []
  if (address === undefined) return undefined
  const { timeMs: expiresAtMs } = readTime(`${time}${fraction}${zone}`)
  if (expiresAtMs === undefined) return undefined
  return { text, ephemeralAddress: address.toLowerCase(), expiresAtMs }
}
