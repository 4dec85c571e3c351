import { isIP } from 'node:net'

/** The interface of a presence provider: see attendance/presence/. */
export const PRESENCE_STYLES = ['peers', 'participants'] as const
export type PresenceStyle = (typeof PRESENCE_STYLES)[number]

/** A service that knows where players are. */
export interface PresenceProviderConfig {
  readonly style: PresenceStyle
  /** Without a slash at its end. */
  readonly url: string
}

/** Each claim that needs presence sends a request to all providers. */
export const MAX_PRESENCE_PROVIDERS = 8

/**
 * Parses the setting `PRESENCE_PROVIDERS`. Undefined where an entry is malformed, there are no entries, or more than
 * {@link MAX_PRESENCE_PROVIDERS}.
 *
 * @example
 * parseProviders('peers=https://stats.example/peers') // [{ style: 'peers', url: 'https://stats.example/peers' }]
 */
export function parseProviders(text: string): readonly PresenceProviderConfig[] | undefined {
  const entries = text.trim().split(/\s+/)
  const providers = entries.flatMap((entry) => {
    const [, style, url] = /^(\w+)=(https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?)$/.exec(entry) ?? []
    const known = PRESENCE_STYLES.find((one) => one === style)
    return known && url ? [{ style: known, url: url.replace(/\/+$/, '') }] : []
  })
  const areAll = providers.length === entries.length && providers.length <= MAX_PRESENCE_PROVIDERS
  return areAll ? providers : undefined
}

/**
 * Parses the setting `TRUSTED_PROXIES`. Undefined where an entry is neither an IP address nor a range.
 *
 * @example
 * parseProxies('10.0.0.0/8, ::1') // ['10.0.0.0/8', '::1']
 */
export function parseProxies(text: string): readonly string[] | undefined {
  const entries = text.split(',').map((entry) => entry.trim())
  const areAll = entries.every((entry) => {
    const [address = '', prefix = '0', ...rest] = entry.split('/')
    const bits = isIP(address) === 4 ? 32 : 128
    return isIP(address) !== 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= bits && rest.length === 0
  })
  return areAll ? entries : undefined
}

/**
 * Parses the setting `ATTENDANCE_OTHER_KEYS`. Undefined where an entry is not 64 hex digits.
 *
 * @example
 * parseKeys(`${'a1'.repeat(32)}, ${'b2'.repeat(32)}`)?.length // 2
 */
export function parseKeys(text: string): readonly Buffer[] | undefined {
  const entries = text.split(',').map((entry) => entry.trim())
  return entries.every((entry) => /^[\da-f]{64}$/i.test(entry))
    ? entries.map((entry) => Buffer.from(entry, 'hex'))
    : undefined
}

/**
 * Parses an address of a server, which may have a query. Undefined for what is no web address.
 *
 * @example
 * parseServerUrl('https://market.example/api?key=a') // the same
 */
export function parseServerUrl(text: string): string | undefined {
  return /^https?:\/\/[^/\s]\S*$/.test(text) && URL.canParse(text) ? text : undefined
}

/** Each node is asked for its chain before it is used. */
export const MAX_NODES = 8

/**
 * Parses the setting `CHAIN_RPC_URLS`. Undefined where an entry is no web address, there are no entries, or more than
 * {@link MAX_NODES}.
 *
 * @example
 * parseNodeUrls('https://node.example/v3/key http://localhost:8545') // [ 'https://node.example/v3/key', 'http://localhost:8545' ]
 */
export function parseNodeUrls(text: string): readonly string[] | undefined {
  const urls = text.trim().split(/[\s,]+/)
  const areAll = urls.every((url) => /^https?:\/\/[^/]/.test(url) && URL.canParse(url))
  return areAll && urls.length <= MAX_NODES ? urls : undefined
}
