import type { Availability, ClosedReason } from '../api/attendance.ts'
import { formatDateTime, formatNumber } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { Notice } from '../ui/notice.tsx'

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
  readonly availability: Availability
  onLoad(): void
}

/** How many tokens are left, and whether players can get one now. */
export function LiveCounts({ availability, onLoad }: LiveCountsProps) {
  const { open, reason, total, available, claimed } = availability
  return (
    <section class={`card counts ${open ? 'is-open' : 'is-closed'}`}>
      <h2>{text('organise.counts.heading')}</h2>
      {reason === 'event_held' ? (
        <Notice kind="error">
          <StateWords availability={availability} />
        </Notice>
      ) : (
        <div role="status">
          <StateWords availability={availability} />
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
      {reason && NEEDS_CODES.includes(reason) && (
        <button type="button" class="primary" onClick={onLoad}>
          {text('organise.codes.load')}
        </button>
      )}
    </section>
  )
}

function StateWords({ availability }: { readonly availability: Availability }) {
  const { reason } = availability
  return (
    <>
      <p class="state">{stateText(availability)}</p>
      {reason && <p>{text(`organise.next.${reason}`)}</p>}
    </>
  )
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
