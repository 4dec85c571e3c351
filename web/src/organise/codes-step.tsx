import { isolated } from '../texts/bidi.ts'
import { formatDateTime } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { Notice } from '../ui/notice.tsx'
import { Rule } from './event-fields.tsx'
import { registered } from './event-state.ts'
import { fetchCodes, finish, goTo, issuerWait, loadsByItself } from './form-state.ts'
import { SentForm } from './sent-form.tsx'
import { StepHeading } from './step-heading.tsx'

/** Step 4: the server fetches the claim codes from the issuer, one for each token. */
export function CodesStep() {
  const event = registered.value
  if (!event) return null
  const wait = issuerWait.value
  return (
    <SentForm
      submit={submitText(wait)}
      busy={text('organise.codes.busy')}
      isPrimary={wait === undefined || wantsChange(wait)}
      onSend={() => void fetchCodes()}
      actions={
        <>
          <button
            type="button"
            class={wait && !wantsChange(wait) ? 'primary' : ''}
            onClick={() => finish(event, { kind: 'saved' })}
          >
            {text('organise.codes.later')}
          </button>
          <button type="button" class="quiet" onClick={() => goTo('places')}>
            {text('organise.event.change_places')}
          </button>
        </>
      }
    >
      <StepHeading step="codes">{text('organise.codes.heading')}</StepHeading>
      <Notice kind="success">
        <p>{text('organise.codes.registered', { name: isolated(event.name) })}</p>
      </Notice>
      {wait ? <IssuerWaits {...wait} /> : <p>{text('organise.codes.explained')}</p>}
    </SentForm>
  )
}

type Wait = NonNullable<typeof issuerWait.value>

/** Whether the organiser has chosen something else than what the server does now. */
function wantsChange({ loadsUntil }: Wait): boolean {
  return loadsByItself.value !== (loadsUntil !== null)
}

function submitText(wait: Wait | undefined): string {
  if (!wait) return text('organise.codes.load')
  if (!wantsChange(wait)) return text('common.retry')
  return text(loadsByItself.value ? 'organise.codes.begin_waiting' : 'organise.codes.end_waiting')
}

/** The issuer has not made the codes yet. Every event starts like this, so it is not shown as a failure. */
function IssuerWaits({ loadsUntil }: Wait) {
  return (
    <>
      <Notice kind="info">
        <h3>{text('organise.codes.waiting')}</h3>
        <p>{text('organise.codes.waiting_explained')}</p>
        <p>
          {loadsUntil === null
            ? text('organise.codes.waiting_next')
            : text('organise.codes.loads_until', { time: formatDateTime(Date.parse(loadsUntil)) })}
        </p>
      </Notice>
      <Rule
        label={text('organise.codes.by_itself')}
        isOn={loadsByItself.value === true}
        onChange={(isOn) => {
          loadsByItself.value = isOn
        }}
      />
      <p class="hint">{text('organise.codes.by_itself_explained')}</p>
    </>
  )
}
