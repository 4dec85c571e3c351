import type { TextKey } from '../texts/texts.ts'
import { isMadeHere } from './made-here.ts'

/** How an organiser gets an event: made on this server, or made at POAP and registered here. */
export type EventWay = 'here' | 'poap'

/** Who makes events on this server, as it writes into the page. */
export type EventMakers = 'anyone' | 'approved' | 'operator' | 'nobody'

const { eventMakers: makers, hasOwn, hasPoap } = document.documentElement.dataset

export function eventMakers(): EventMakers {
  return (makers as EventMakers | undefined) ?? 'nobody'
}

/** Whether an edit code of the event can be judged here. Without its issuer every form about it would fail. */
export function canBeChanged(event: { readonly id: number }): boolean {
  return (isMadeHere(event) ? hasOwn : hasPoap) === 'true'
}

/**
 * The ways that this server offers, the first choice first; none where its operator has to correct the settings. Where the operator
 * alone makes events, both ways are shown, also those that are closed.
 */
export const OFFERED_WAYS: readonly EventWay[] = [
  ...(eventMakers() === 'nobody' ? [] : (['here'] as const)),
  ...(hasPoap === 'true' || eventMakers() === 'operator' ? (['poap'] as const) : []),
]

/** Why a way that is shown has no form; undefined where it has one. */
export function whyClosed(way: EventWay): TextKey | undefined {
  if (way === 'here') return eventMakers() === 'operator' ? 'error.operator_only' : undefined
  return hasPoap === 'true' ? undefined : 'organise.way.no_poap'
}
