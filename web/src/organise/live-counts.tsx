import type { EventInfo } from '@landpass/client'
import type { Availability, ClosedReason } from '../api/attendance.ts'
import { formatDateTime, formatNumber } from '../texts/format.ts'
import { type TextKey, text } from '../texts/texts.ts'
import { Notice } from '../ui/notice.tsx'
import { isMadeHere } from './made-here.ts'

/** Reasons that loading the codes can solve. */
const NEEDS_CODES: readonly ClosedReason[] = [
  'no_codes_loaded',
  'waiting_for_issuer',
  'no_codes_left',
  'event_held',
]
/** Reasons that only a PATCH request can solve. */
const NEEDS_REQUEST: readonly ClosedReason[] = ['event_closed', 'event_disabled']

interface LiveCountsProps {
  readonly info: EventInfo
  readonly availability: Availability
  onLoad(): void
}

/** How many tokens are left, and whether players can get one now. */
export function LiveCounts({ info, availability, onLoad }: LiveCountsProps) {
  const { open, reason, total, available, claimed } = availability
  return (
    <section class={`card counts ${open ? 'is-open' : 'is-closed'}`}>
      <h2>{text('organise.counts.heading')}</h2>
      {reason === 'event_held' ? (
        <Notice kind="error">
          <StateWords info={info} availability={availability} />
        </Notice>
      ) : (
        <div role="status">
          <StateWords info={info} availability={availability} />
        </div>
      )}
      {reason && NEEDS_REQUEST.includes(reason) && (
        <p>
          <a href="/docs/">{text('organise.next.how_to_change')}</a>
        </p>
      )}
      <dl class="numbers">
        <Count label={text('organise.counts.available')} value={available} />
        <Count label={text('organise.counts.claimed')} value={claimed} />
        <Count label={text('organise.counts.total')} value={total} />
      </dl>
      {total > 0 && (
        <div class="share" aria-hidden="true">
          <div style={{ width: `${(100 * claimed) / total}%` }} />
        </div>
      )}
      <p class="hint">{text('organise.counts.live')}</p>
      {reason && NEEDS_CODES.includes(reason) && !isMadeHere(info) && (
        <button type="button" class="primary" onClick={onLoad}>
          {text('organise.codes.load')}
        </button>
      )}
    </section>
  )
}

function StateWords({ info, availability }: Pick<LiveCountsProps, 'info' | 'availability'>) {
  const { reason } = availability
  const own = isMadeHere(info) && reason ? OF_OWN_EVENTS[reason] : undefined
  return (
    <>
      <p class="state">{own?.state ? text(own.state) : stateText(availability)}</p>
      {reason && <p>{own ? text(own.next) : text(`organise.next.${reason}`)}</p>}
    </>
  )
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

function Count({ label, value }: { readonly label: string; readonly value: number }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{formatNumber(value)}</dd>
    </div>
  )
}

function stateText({ reason, opens_at, closes_at }: Availability): string {
  switch (reason) {
    case null:
      return text('organise.state.open')
    case 'event_not_open':
      return text('organise.state.event_not_open', { time: timeText(opens_at) })
    case 'event_closed':
      return text('organise.state.event_closed', { time: timeText(closes_at) })
    default:
      return text(`organise.state.${reason}`)
  }
}

function timeText(iso: string | null): string {
  return iso === null ? '' : formatDateTime(Date.parse(iso))
}
