import type { EventWay } from './event-ways.ts'

/**
 * The form that an address names with `way`. The one for events at POAP can always be named: their organisers change them
 * with it, also where this server offers them no new ones. Without a name, the only way that is offered is taken.
 *
 * @returns undefined where the organiser has to choose
 * @example
 * namedWay('poap', ['here']) // 'poap'
 * namedWay(null, ['here']) // 'here'
 */
export function namedWay(named: string | null, offered: readonly EventWay[]): EventWay | undefined {
  if (named === 'poap') return named
  if (offered.length === 1) return offered[0]
  return offered.find((way) => way === named)
}
