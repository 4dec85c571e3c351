import { isolated } from '../texts/bidi.ts'
import { text } from '../texts/texts.ts'
import { Notice } from '../ui/notice.tsx'
import { Busy } from './busy.tsx'
import {
  fault,
  fetchCodes,
  finish,
  goTo,
  isBusy,
  isIssuerWaiting,
  isRefused,
  registered,
} from './form-state.ts'
import { useSecondsUntil } from './seconds-until.ts'
import { StepFault } from './step-fault.tsx'
import { StepHeading } from './step-heading.tsx'

/** Step 4: the server fetches the claim codes from the issuer, one for each token. */
export function CodesStep() {
  const event = registered.value
  const mustWait = useSecondsUntil(fault.value?.untilMs) > 0
  if (!event) return null
  const see = () => finish(event, { kind: 'saved' })
  return (
    <form
      onSubmit={(submitted) => {
        submitted.preventDefault()
        if (!mustWait) void fetchCodes()
      }}
    >
      <StepHeading step="codes">{text('organise.codes.heading')}</StepHeading>
      <Notice kind="success">
        <p>{text('organise.codes.registered', { name: isolated(event.name) })}</p>
      </Notice>
      {isIssuerWaiting.value ? <IssuerWaits /> : <p>{text('organise.codes.explained')}</p>}
      <StepFault />
      <Busy label={text('organise.codes.busy')} />
      <div class="row actions">
        {isIssuerWaiting.value && (
          <button type="button" class="primary" onClick={see}>
            {text('organise.codes.later')}
          </button>
        )}
        <button
          type="submit"
          class={isIssuerWaiting.value ? '' : 'primary'}
          disabled={mustWait}
          aria-disabled={isBusy.value}
        >
          {isIssuerWaiting.value || isRefused.value ? text('common.retry') : text('organise.codes.load')}
        </button>
        {!isIssuerWaiting.value && (
          <button type="button" onClick={see}>
            {text('organise.codes.later')}
          </button>
        )}
        <button type="button" class="quiet" onClick={() => goTo('places')}>
          {text('organise.event.change_places')}
        </button>
      </div>
    </form>
  )
}

/** The issuer has not made the codes yet. Every event starts like this, so it is not shown as a failure. */
function IssuerWaits() {
  return (
    <Notice kind="info">
      <h3>{text('organise.codes.waiting')}</h3>
      <p>{text('organise.codes.waiting_explained')}</p>
      <p>{text('organise.codes.waiting_next')}</p>
    </Notice>
  )
}
