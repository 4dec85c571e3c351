import type { EventInfo } from '@landpass/client'
import type { Availability, ClosedReason } from '../api/attendance.ts'
import { serverNowMs } from '../api/server-clock.ts'
import { formatDateTimeThere } from '../texts/format.ts'
import { type TextKey, text } from '../texts/texts.ts'
import { isMadeHere } from './made-here.ts'

export interface StateWords {
  readonly state: string
  /** What the organiser does next; undefined while all is well. */
  readonly next: string | undefined
}

/** Whether players can get a token now, and if not, why and what to do. */
export function stateWords(
  info: Pick<EventInfo, 'id' | 'time_zone'>,
  availability: Availability,
): StateWords {
  const { reason } = availability
  const own = isMadeHere(info) && reason ? OF_OWN_EVENTS[reason] : undefined
  return {
    state: own?.state ? text(own.state) : stateText(availability, info.time_zone),
    next: reason === null ? undefined : own ? text(own.next) : text(`organise.next.${reason}`),
  }
}

interface OwnWords {
  /** Undefined: as of other events. */
  readonly state?: TextKey
  readonly next: TextKey
}

const WAITING: OwnWords = {
  state: 'organise.state.waiting_for_operator',
  next: 'organise.next.waiting_for_operator',
}
/** Where the words about an issuer outside do not fit an event that was made here. */
const OF_OWN_EVENTS: Readonly<Partial<Record<ClosedReason, OwnWords>>> = {
  waiting_for_issuer: WAITING,
  no_codes_loaded: WAITING,
  no_codes_left: { next: 'organise.next.made_here_full' },
  event_expired: { state: 'organise.state.over', next: 'organise.next.made_here_over' },
}

/** Whether tokens are given out from a later time on, by the clock of the server. */
export function isBeforeOpening({ opens_at }: Pick<Availability, 'opens_at'>): boolean {
  return Date.parse(opens_at ?? '') > serverNowMs()
}

function stateText({ reason, opens_at, closes_at }: Availability, zone: string | null): string {
  switch (reason) {
    case null:
      return text('organise.state.open')
    case 'event_not_open':
      return text('organise.state.event_not_open', { time: timeText(opens_at, zone) })
    case 'event_closed':
      return text('organise.state.event_closed', { time: timeText(closes_at, zone) })
    default:
      return text(`organise.state.${reason}`)
  }
}

function timeText(iso: string | null, zone: string | null): string {
  return iso === null ? '' : formatDateTimeThere(Date.parse(iso), zone)
}
