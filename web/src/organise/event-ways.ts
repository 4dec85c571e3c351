/** How an organiser gets an event: made on this server, or made at POAP and registered here. */
export type EventWay = 'here' | 'poap'

/** Who makes events on this server, as it writes into the page. */
export type EventMakers = 'anyone' | 'approved' | 'operator' | 'nobody'

export function eventMakers(): EventMakers {
  return (document.documentElement.dataset.eventMakers as EventMakers | undefined) ?? 'nobody'
}

/** The ways that this server offers, the first choice first. */
export const OFFERED_WAYS = waysOf(eventMakers(), document.documentElement.dataset.hasPoap === 'true')

/** Without any way, the form for events at POAP is shown: its calls say what the operator has to correct. */
function waysOf(makers: EventMakers, hasPoap: boolean): readonly EventWay[] {
  if (makers !== 'anyone' && makers !== 'approved') return ['poap']
  return hasPoap ? ['here', 'poap'] : ['here']
}
