import { isIP } from 'node:net'

/** In which way a presence provider is asked: see attendance/presence/. */
export const PRESENCE_STYLES = ['peers', 'participants'] as const
export type PresenceStyle = (typeof PRESENCE_STYLES)[number]

/** Who knows where players are. */
export interface PresenceProviderConfig {
  readonly style: PresenceStyle
  /** Without a slash at its end. */
  readonly url: string
}

/** Every one of them is asked for every claim that needs presence. */
export const MAX_PRESENCE_PROVIDERS = 8

/**
 * Reads the setting `PRESENCE_PROVIDERS`. Undefined when an entry is malformed, or there are none or more than
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
 * Reads the setting `TRUSTED_PROXIES`. Undefined when an entry is neither an address nor a range.
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
