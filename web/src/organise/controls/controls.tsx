import { formatTime } from '../../texts/format.ts'
import { failureText } from '../../texts/refusal.ts'
import { text } from '../../texts/texts.ts'
import { Notice } from '../../ui/notice.tsx'
import { ProofOfWork } from '../busy.tsx'
import { keptCode } from '../kept-codes.ts'
import { isMadeHere } from '../made-here.ts'
import { isBeforeOpening } from '../state-words.ts'
import { BlockList } from './block-list.tsx'
import type { ControlsProps } from './controls-props.ts'
import { controls, forgetControls } from './controls-session.ts'
import { Downloads } from './downloads.tsx'
import { EditCodes } from './edit-codes.tsx'
import { Gifts } from './gifts.tsx'
import { Grants } from './grants.tsx'
import { MinutesChart } from './minutes-chart.tsx'
import { MoreTokens } from './more-tokens.tsx'
import { OperatorAnswer } from './operator-answer.tsx'
import { Refusals } from './refusals.tsx'
import { Rehearsal } from './rehearsal.tsx'
import { Services } from './services.tsx'
import { StateCard } from './state-card.tsx'
import { Switches } from './switches.tsx'
import { Times } from './times.tsx'

/** What an organiser watches and changes while the crowd comes. */
export function Controls({ onChanged, first, below }: ControlsProps) {
  const shown = controls.value
  if (!shown) return null
  const { report, atMs, error } = shown
  const { event } = report
  const isFolding = first !== undefined && below === undefined
  const watched = (
    <>
      <MinutesChart minutes={report.minutes} />
      <Refusals refusals={report.refusals} />
      <Services report={report} />
      <MoreTokens report={report} onChanged={onChanged} />
      {report.gifts && (
        <Gifts
          gifts={report.gifts}
          available={report.availability.available}
          approval={report.approval}
          isCancelled={event.cancelled}
        />
      )}
    </>
  )
  const rehearsal = <Rehearsal report={report} counted={report.rehearsal} onChanged={onChanged} />
  const rules = (
    <>
      <Switches event={event} onChanged={onChanged} />
      <Times report={report} onChanged={onChanged} />
    </>
  )
  const others = (
    <>
      <BlockList blocked={report.blocked} />
      <Downloads event={event} />
      {isMadeHere(event) && <EditCodes />}
      <Grants grants={report.grants} />
      <section class="card">
        <h2>{text('controls.code.heading')}</h2>
        <p>{text(keptCode(event.uuid) === undefined ? 'controls.code.explained' : 'controls.code.kept')}</p>
        <button type="button" onClick={forgetControls}>
          {text('controls.code.forget')}
        </button>
      </section>
    </>
  )
  return (
    <div class="controls">
      {error !== undefined && (
        <Notice kind="warning">
          <p>{text('organise.live.stale', { time: formatTime(atMs) })}</p>
          <p>{failureText(error)}</p>
        </Notice>
      )}
      <ProofOfWork />
      <div class="live-columns">
        <div>
          <StateCard shown={shown} onChanged={onChanged} />
          <OperatorAnswer approval={report.approval} />
          {isFolding ? (
            <>
              {first}
              {rehearsal}
              <details class="folded" open={!isBeforeOpening(report.availability)}>
                <summary>{text('controls.more')}</summary>
                {watched}
                {rules}
                {others}
              </details>
            </>
          ) : (
            watched
          )}
          {below?.left}
        </div>
        {!isFolding && (
          <div>
            {first}
            {rules}
            {rehearsal}
            {others}
            {below?.right}
          </div>
        )}
      </div>
    </div>
  )
}
