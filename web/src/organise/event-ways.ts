import type { TextKey } from '../texts/texts.ts'

/** How an organiser gets an event: made on this server, or made at POAP and registered here. */
export type EventWay = 'here' | 'poap'

/** Who makes events on this server, as it writes into the page. */
export type EventMakers = 'anyone' | 'approved' | 'operator' | 'nobody'

export function eventMakers(): EventMakers {
  return (document.documentElement.dataset.eventMakers as EventMakers | undefined) ?? 'nobody'
}

const HAS_POAP = document.documentElement.dataset.hasPoap === 'true'

/** The ways that this server offers, the first choice first. */
export const OFFERED_WAYS = waysOf(eventMakers())

/**
 * Where the operator alone makes events, both ways are shown, also those that are closed. Without any way, the form for events
 * at POAP is shown: its calls say what the operator has to correct.
 */
function waysOf(makers: EventMakers): readonly EventWay[] {
  if (makers === 'nobody') return ['poap']
  return HAS_POAP || makers === 'operator' ? ['here', 'poap'] : ['here']
}

/** Why a way that is shown has no form; undefined where it has one. */
export function whyClosed(way: EventWay): TextKey | undefined {
  if (way === 'here') return eventMakers() === 'operator' ? 'error.operator_only' : undefined
  return HAS_POAP ? undefined : 'organise.way.no_poap'
}
