import { LandpassError, type Report } from '@landpass/client'
import { useRef } from 'preact/hooks'
import type { RehearsalCounts } from '../../api/controls.ts'
import { serverNowMs } from '../../api/server-clock.ts'
import { formatDateTime } from '../../texts/format.ts'
import { text } from '../../texts/texts.ts'
import { useReplacedFocus } from '../../ui/replaced-focus.ts'
import { ActionFault } from './action-fault.tsx'
import { changeShownEvent } from './controls-session.ts'
import { useAction } from './use-action.ts'

const HOUR_MS = 3_600_000
/** The longest rehearsal that the server allows. */
const MAX_REHEARSAL_MS = 24 * HOUR_MS

interface RehearsalProps {
  readonly report: Report
  readonly counted: RehearsalCounts
  onChanged(): void
}

/** Whether a scene in preview can go through claims, and until when. */
export function Rehearsal({ report, counted, onChanged }: RehearsalProps) {
  const action = useAction()
  const { event, availability } = report
  const choices = useRef<HTMLFieldSetElement>(null)
  const set = (until: string | null) =>
    void action.run(async () => {
      wasPressed.current = true
      try {
        await changeShownEvent({ rehearsal_until: until })
      } catch (error) {
        wasPressed.current = false
        throw error
      }
      onChanged()
    })
  const untilMs = event.rehearsal_until ? Date.parse(event.rehearsal_until) : 0
  const isOn = untilMs > serverNowMs()
  const wasPressed = useReplacedFocus(isOn, () => choices.current?.querySelector('button'))
  const closesMs = availability.closes_at === null ? Number.NaN : Date.parse(availability.closes_at)
  const isClosingNear = closesMs > serverNowMs() && closesMs - serverNowMs() <= MAX_REHEARSAL_MS
  const inHours = (hours: number) => set(new Date(serverNowMs() + hours * HOUR_MS).toISOString())
  return (
    <section class="card">
      <h2>{text('controls.rehearsal.heading')}</h2>
      <p>
        {isOn
          ? text('controls.rehearsal.on', { time: formatDateTime(untilMs) })
          : text('controls.rehearsal.explained')}
      </p>
      {(counted.claims > 0 || counted.refusals > 0) && (
        <p class="hint">
          {text('controls.rehearsal.counted', { claims: counted.claims, refusals: counted.refusals })}
        </p>
      )}
      <fieldset class="row" ref={choices} aria-describedby="rehearsal-fault">
        <legend class="visually-hidden">{text('controls.rehearsal.heading')}</legend>
        {isOn ? (
          <button type="button" aria-disabled={action.isBusy.value} onClick={() => set(null)}>
            {text('controls.rehearsal.end')}
          </button>
        ) : (
          <>
            <button type="button" aria-disabled={action.isBusy.value} onClick={() => inHours(1)}>
              {text('controls.rehearsal.hour')}
            </button>
            <button type="button" aria-disabled={action.isBusy.value} onClick={() => inHours(3)}>
              {text('controls.rehearsal.hours', { count: 3 })}
            </button>
            {isClosingNear && (
              <button
                type="button"
                aria-disabled={action.isBusy.value}
                onClick={() => set(new Date(closesMs).toISOString())}
              >
                {text('controls.rehearsal.until_closing')}
              </button>
            )}
          </>
        )}
      </fieldset>
      <ActionFault id="rehearsal-fault" action={action} wordsOf={wordsOfRefusal} />
    </section>
  )
}

/** The only time that is sent follows from the clock of the device. */
function wordsOfRefusal(fault: unknown): string | undefined {
  const isOfTime = fault instanceof LandpassError && fault.code === 'invalid_parameter'
  return isOfTime ? text('controls.rehearsal.clock') : undefined
}
