import { text } from '../texts/texts.ts'
import { isServed } from '../ui/interfaces.ts'
import { Loading } from '../ui/notice.tsx'
import { usePageTitle } from '../ui/page-title.ts'
import { MAX_PLACES } from './coordinates.ts'
import { Field } from './field.tsx'
import { fault, isBusy, isRefused } from './form-state.ts'
import { changeDraft, draft, MAX_DESCRIPTION_LENGTH, MAX_NAME_LENGTH, makeEvent } from './make-state.ts'
import { PictureField } from './picture-field.tsx'
import { PlacesMap } from './places-map.tsx'
import { PlacesField } from './places-step.tsx'
import { useSecondsUntil } from './seconds-until.ts'
import { StepFault } from './step-fault.tsx'
import { OtherWay } from './way-choice.tsx'

/** Makes an event whose tokens this server signs. */
export function MakeForm() {
  usePageTitle(text('organise.way.here'))
  const mustWait = useSecondsUntil(fault.value?.untilMs) > 0
  return (
    <>
      <h1>{text('organise.way.here')}</h1>
      <p class="lead">{text('organise.way.here_explained')}</p>
      <OtherWay />
      <form
        class="card step make"
        noValidate
        onSubmit={(submitted) => {
          submitted.preventDefault()
          if (!mustWait) void makeEvent()
        }}
      >
        <h2>{text('organise.make.heading')}</h2>
        <WordFields />
        <h2>{text('organise.make.places')}</h2>
        <p>{text('organise.make.places_explained', { count: MAX_PLACES })}</p>
        {isServed('land') && <PlacesMap />}
        <PlacesField />
        <DayFields />
        <TokensField />
        <PictureField />
        <Rules />
        <StepFault />
        {isBusy.value && <Loading label={text('organise.make.busy')} />}
        <div class="row actions">
          <button type="submit" class="primary" disabled={mustWait} aria-disabled={isBusy.value}>
            {isRefused.value ? text('common.retry') : text('organise.make.submit')}
          </button>
        </div>
      </form>
    </>
  )
}

function WordFields() {
  return (
    <>
      <Field<HTMLInputElement>
        id="event-name"
        place="name"
        label={text('organise.make.name')}
        hint={text('organise.make.name_hint', { count: MAX_NAME_LENGTH })}
      >
        {(parts) => (
          <input
            {...parts}
            autocomplete="off"
            dir="auto"
            maxLength={MAX_NAME_LENGTH}
            value={draft.value.name}
            onInput={({ currentTarget }) => changeDraft({ name: currentTarget.value }, 'name')}
          />
        )}
      </Field>
      <Field<HTMLTextAreaElement>
        id="event-description"
        place="description"
        label={text('organise.make.description')}
        hint={text('organise.make.description_hint')}
      >
        {(parts) => (
          <textarea
            {...parts}
            class="prose"
            rows={3}
            dir="auto"
            maxLength={MAX_DESCRIPTION_LENGTH}
            value={draft.value.description}
            onInput={({ currentTarget }) => changeDraft({ description: currentTarget.value }, 'description')}
          />
        )}
      </Field>
    </>
  )
}

function DayFields() {
  return (
    <>
      {(['first_day', 'last_day'] as const).map((day) => (
        <Field<HTMLInputElement>
          key={day}
          id={day}
          place={day}
          label={text(`organise.make.${day}`)}
          hint={day === 'last_day' ? text('organise.make.days_hint') : ''}
        >
          {(parts) => (
            <input
              {...parts}
              class="short"
              type="date"
              value={draft.value[day]}
              onInput={({ currentTarget }) => changeDraft({ [day]: currentTarget.value }, day)}
            />
          )}
        </Field>
      ))}
    </>
  )
}

function TokensField() {
  return (
    <Field<HTMLInputElement>
      id="tokens"
      place="tokens"
      label={text('organise.make.tokens')}
      hint={text('organise.make.tokens_hint')}
    >
      {(parts) => (
        <input
          {...parts}
          class="short"
          inputMode="numeric"
          autocomplete="off"
          maxLength={9}
          value={draft.value.tokens}
          onInput={({ currentTarget }) => changeDraft({ tokens: currentTarget.value }, 'tokens')}
        />
      )}
    </Field>
  )
}

function Rules() {
  const { requiresPresence, requiresCaptcha, hidesHolders } = draft.value
  return (
    <fieldset class="rules">
      <legend>{text('organise.make.options')}</legend>
      <Rule
        label={text('organise.make.presence')}
        isOn={requiresPresence}
        onChange={(isOn) => changeDraft({ requiresPresence: isOn })}
      />
      <Rule
        label={text('organise.make.captcha')}
        isOn={requiresCaptcha}
        onChange={(isOn) => changeDraft({ requiresCaptcha: isOn })}
      />
      <Rule
        label={text('organise.make.hide_holders')}
        isOn={hidesHolders}
        onChange={(isOn) => changeDraft({ hidesHolders: isOn })}
      />
    </fieldset>
  )
}

interface RuleProps {
  readonly label: string
  readonly isOn: boolean
  onChange(isOn: boolean): void
}

function Rule({ label, isOn, onChange }: RuleProps) {
  return (
    <label class="rule">
      <input
        type="checkbox"
        checked={isOn}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      {label}
    </label>
  )
}
