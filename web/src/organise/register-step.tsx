import { withoutTurns } from '../texts/bidi.ts'
import { text } from '../texts/texts.ts'
import { Busy } from './busy.tsx'
import { coordinatesText } from './coordinates.ts'
import { eventId, fault, goTo, isBusy, isRefused, readPlaces, register, registered } from './form-state.ts'
import { useSecondsUntil } from './seconds-until.ts'
import { StepFault } from './step-fault.tsx'
import { StepHeading } from './step-heading.tsx'

/** Step 3: a summary; then the event is registered, or its places are changed. */
export function RegisterStep() {
  const event = registered.value
  const mustWait = useSecondsUntil(fault.value?.untilMs) > 0
  const { places } = readPlaces.value
  return (
    <form
      onSubmit={(submitted) => {
        submitted.preventDefault()
        if (!mustWait) void register()
      }}
    >
      <StepHeading step="register">
        {event ? text('organise.register.heading_again') : text('organise.register.heading')}
      </StepHeading>
      <dl class="facts">
        <dt>{text('organise.event.id')}</dt>
        <dd>{eventId.value}</dd>
        {event && (
          <>
            <dt>{text('organise.live.name')}</dt>
            <dd>
              <bdi>{withoutTurns(event.name)}</bdi>
            </dd>
          </>
        )}
        <dt>{text('organise.places.label')}</dt>
        <dd>
          {text('organise.places.count', { count: places.length })}
          <br />
          <span class="coordinates">{coordinatesText(places)}</span>
        </dd>
      </dl>
      <p>{event ? text('organise.register.explained_again') : text('organise.register.explained')}</p>
      <StepFault />
      <Busy label={text('organise.register.busy')} />
      <div class="row actions">
        <button type="submit" class="primary" disabled={mustWait} aria-disabled={isBusy.value}>
          {primaryText(event !== undefined)}
        </button>
        <button type="button" onClick={() => goTo('places')}>
          {text('organise.back')}
        </button>
      </div>
    </form>
  )
}

function primaryText(isAgain: boolean): string {
  if (isRefused.value) return text('common.retry')
  return isAgain ? text('organise.register.save') : text('organise.register.register')
}
