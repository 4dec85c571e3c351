import type { EventWay } from './event-ways.ts'

/**
 * The form that an address names with `way`, if this server offers it. Without a name, the only way that is offered is taken.
 *
 * @returns undefined where the organiser has to choose, or nothing is offered
 * @example
 * namedWay('here', ['here', 'poap']) // 'here'
 * namedWay(null, ['here']) // 'here'
 */
export function namedWay(named: string | null, offered: readonly EventWay[]): EventWay | undefined {
  return offered.length === 1 ? offered[0] : offered.find((way) => way === named)
}
