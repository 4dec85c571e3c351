import { withoutTurns } from '../texts/bidi.ts'
import { text } from '../texts/texts.ts'
import { coordinatesText } from './coordinates.ts'
import { eventId, provenEvent, registered } from './event-state.ts'
import { goTo, register } from './form-state.ts'
import { readPlaces } from './places-state.ts'
import { SentForm } from './sent-form.tsx'
import { StepHeading } from './step-heading.tsx'

/** Step 3: a summary; then the event is registered, or its places are changed. */
export function RegisterStep() {
  const isAgain = registered.value !== undefined
  const name = registered.value?.name ?? provenEvent.value?.name
  const { places } = readPlaces.value
  return (
    <SentForm
      submit={text(isAgain ? 'organise.register.save' : 'organise.register.register')}
      busy={text('organise.register.busy')}
      onSend={() => void register()}
      actions={
        <button type="button" onClick={() => goTo('places')}>
          {text('organise.back')}
        </button>
      }
    >
      <StepHeading step="register">
        {text(isAgain ? 'organise.register.heading_again' : 'organise.register.heading')}
      </StepHeading>
      <dl class="facts">
        <dt>{text('organise.event.id')}</dt>
        <dd>{eventId.value}</dd>
        {name !== undefined && (
          <>
            <dt>{text('organise.live.name')}</dt>
            <dd>
              <bdi>{withoutTurns(name)}</bdi>
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
      <p>{text(isAgain ? 'organise.register.explained_again' : 'organise.register.explained')}</p>
    </SentForm>
  )
}
