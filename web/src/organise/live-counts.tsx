import type { EventInfo } from '@landpass/client'
import type { Availability, ClosedReason } from '../api/attendance.ts'
import { formatNumber } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { Notice } from '../ui/notice.tsx'
import { canBeChanged } from './event-ways.ts'
import { isMadeHere } from './made-here.ts'
import { stateWords } from './state-words.ts'

/** Reasons that loading the codes can solve. */
const NEEDS_CODES: readonly ClosedReason[] = [
  'no_codes_loaded',
  'waiting_for_issuer',
  'no_codes_left',
  'event_held',
]

interface LiveCountsProps {
  readonly info: EventInfo
  readonly availability: Availability
  onLoad(): void
}

/** How many tokens are left, and whether players can get one now. */
export function LiveCounts({ info, availability, onLoad }: LiveCountsProps) {
  const { open, reason } = availability
  return (
    <section class={`card counts ${open ? 'is-open' : 'is-closed'}`}>
      <h2>{text('organise.counts.heading')}</h2>
      {reason === 'event_held' ? (
        <Notice kind="error">
          <Words info={info} availability={availability} />
        </Notice>
      ) : (
        <div role="status">
          <Words info={info} availability={availability} />
        </div>
      )}
      <Numbers info={info} availability={availability} />
      {reason && NEEDS_CODES.includes(reason) && !isMadeHere(info) && canBeChanged(info) && (
        <button type="button" class="primary" onClick={onLoad}>
          {text('organise.codes.load')}
        </button>
      )}
    </section>
  )
}

function Words({ info, availability }: Pick<LiveCountsProps, 'info' | 'availability'>) {
  const { state, next } = stateWords(info, availability)
  return (
    <>
      <p class="state">{state}</p>
      {next !== undefined && <p>{next}</p>}
    </>
  )
}

/** How many tokens are left, given out and in all; nothing while the operator has not approved the event. */
export function Numbers({ info, availability }: Pick<LiveCountsProps, 'info' | 'availability'>) {
  const { total, available, claimed } = availability
  if (total === 0 && isMadeHere(info)) return null
  return (
    <>
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
