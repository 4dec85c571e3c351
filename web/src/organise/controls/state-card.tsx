import { LandpassError } from '@landpass/client'
import type { Availability } from '../../api/attendance.ts'
import { serverNowMs } from '../../api/server-clock.ts'
import { formatDateTime } from '../../texts/format.ts'
import { text } from '../../texts/texts.ts'
import { useFirstFocus } from '../../ui/focus.ts'
import { HelpLink } from '../../ui/help-link.tsx'
import { Numbers } from '../live-counts.tsx'
import { isMadeHere } from '../made-here.ts'
import { stateWords } from '../state-words.ts'
import { ActionFault } from './action-fault.tsx'
import { type Controls, changeShownEvent } from './controls-session.ts'
import { type ControlsState, controlsState, minutesLeft } from './controls-state.ts'
import { useAction } from './use-action.ts'

/** How each state is coloured: as good, as what needs the organiser, or as neither. */
const LOOKS: Readonly<Record<ControlsState, 'good' | 'warn' | 'bad' | 'calm'>> = {
  open: 'good',
  before: 'calm',
  ended: 'calm',
  paused: 'warn',
  waiting: 'warn',
  short: 'warn',
  given_out: 'warn',
  held: 'bad',
  refused: 'bad',
  issuer_down: 'bad',
  presence_down: 'bad',
}

interface StateCardProps {
  readonly shown: Controls
  onChanged(): void
}

/** The state of the event, what to do next, how many tokens are left, and the button that pauses. */
export function StateCard({ shown, onChanged }: StateCardProps) {
  const { report, error } = shown
  const heading = useFirstFocus<HTMLHeadingElement>()
  const state = controlsState(report, serverNowMs(), isIssuerAway(error))
  const { rehearsal_until: rehearsal = null } = report.event
  return (
    <section class={`card controls-state is-${LOOKS[state]}`} data-state={state}>
      <h2 ref={heading} tabIndex={-1}>
        {text('controls.heading')}
      </h2>
      <HelpLink to="organisers#during-the-event" />
      {/* The title alone is announced: the numbers below change with every claim */}
      <p class="state" role="status">
        {titleOf(state, shown)}
      </p>
      <p>{nextOf(state, shown)}</p>
      {rehearsal !== null && Date.parse(rehearsal) > serverNowMs() && (
        <p class="hint">{text('controls.rehearsal.on', { time: formatDateTime(Date.parse(rehearsal)) })}</p>
      )}
      <Numbers info={report.event} availability={report.availability as Availability} />
      <Pause isEnabled={report.event.enabled} onChanged={onChanged} />
    </section>
  )
}

function Pause({ isEnabled, onChanged }: { readonly isEnabled: boolean; onChanged(): void }) {
  const action = useAction()
  const press = async () => {
    await changeShownEvent({ enabled: !isEnabled })
    onChanged()
  }
  return (
    <>
      <button
        type="button"
        class={isEnabled ? 'wide' : 'wide primary'}
        aria-disabled={action.isBusy.value}
        aria-describedby="pause-fault"
        onClick={() => void action.run(press)}
      >
        {text(isEnabled ? 'controls.pause' : 'controls.resume')}
      </button>
      <ActionFault id="pause-fault" action={action} />
    </>
  )
}

function titleOf(state: ControlsState, { report }: Controls): string {
  switch (state) {
    case 'short':
      return text('controls.state.short')
    case 'issuer_down':
      return text('controls.state.issuer_down')
    case 'presence_down':
      return text('controls.state.presence_down')
    default:
      return stateWords(report.event, report.availability as Availability).state
  }
}

function nextOf(state: ControlsState, { report }: Controls): string {
  const { event, availability } = report
  const isOwn = isMadeHere(event)
  switch (state) {
    case 'short': {
      const left = minutesLeft(report, serverNowMs())
      const next = text(isOwn ? 'controls.next.more_here' : 'controls.next.more_at_issuer')
      return left === undefined ? next : `${text('controls.next.lasts', { count: left })} ${next}`
    }
    case 'given_out':
      return text(isOwn ? 'controls.next.more_here' : 'controls.next.more_at_issuer')
    case 'waiting':
      if (isOwn) return text('organise.next.waiting_for_operator')
      return text(
        report.codes_load
          ? 'controls.next.loads_alone'
          : availability.reason === 'no_codes_loaded'
            ? 'controls.next.no_codes_loaded'
            : 'controls.next.waiting_for_issuer',
      )
    case 'ended':
      if (availability.reason === 'event_closed') return text('controls.next.event_closed')
      return stateWords(event, availability as Availability).next ?? ''
    case 'held':
      return text('organise.next.event_held')
    case 'refused':
      return text('organise.next.event_refused')
    default:
      return text(`controls.next.${state}`)
  }
}

/** For events of POAP every report asks the issuer, so the page notices before the server's own record does. */
function isIssuerAway(error: unknown): boolean {
  return error instanceof LandpassError && error.code === 'issuer_unavailable'
}
