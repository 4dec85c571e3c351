import { useEffect } from 'preact/hooks'
import { text } from '../texts/texts.ts'
import { usePageTitle } from '../ui/page-title.ts'
import { MAX_PLACES } from './coordinates.ts'
import { DescriptionField, LineField, PlacesFields, Rule, TokensField } from './event-fields.tsx'
import { eventMakers, whyClosed } from './event-ways.ts'
import { hasIncompleteField } from './incomplete-field.ts'
import { Hours } from './make-hours.tsx'
import { changeDraft, draft, HOURS, MAX_NAME_LENGTH, openDraft, reviewEvent } from './make-state.ts'
import { PictureField } from './picture-field.tsx'
import { SentForm } from './sent-form.tsx'
import { OtherWay } from './way-choice.tsx'

/** Makes an event whose tokens this server signs. */
export function MakeForm() {
  usePageTitle(text('organise.way.here'))
  useEffect(openDraft, [])
  return (
    <>
      <h1>{text('organise.way.here')}</h1>
      <p class="lead">{text('organise.way.here_explained')}</p>
      {eventMakers() === 'approved' && <p>{text('organise.way.here_approved')}</p>}
      {whyClosed('poap') && <p class="hint">{text('organise.way.no_poap')}</p>}
      <OtherWay />
      <SentForm
        class="card step make"
        submit={text('organise.make.review')}
        busy={text('organise.make.busy')}
        onSend={(form) => reviewEvent(HOURS.filter((field) => isIncomplete(form, field)))}
      >
        <h2>{text('organise.make.heading')}</h2>
        <LineField
          id="event-name"
          place="name"
          label={text('organise.make.name')}
          hint={text('organise.make.name_hint', { count: MAX_NAME_LENGTH })}
          input={{ dir: 'auto', maxLength: MAX_NAME_LENGTH }}
          value={draft.value.name}
          onType={(name) => changeDraft({ name }, 'name')}
        />
        <DescriptionField
          value={draft.value.description}
          onType={(description) => changeDraft({ description }, 'description')}
        />
        <h2>{text('organise.make.places')}</h2>
        <p>{text('organise.make.places_explained', { count: MAX_PLACES })}</p>
        <PlacesFields />
        <h2>{text('organise.make.times')}</h2>
        <TimeFields />
        <h2>{text('organise.make.token_heading')}</h2>
        <TokensField
          hint={text('organise.make.tokens_hint')}
          value={draft.value.tokens}
          onType={(tokens) => changeDraft({ tokens }, 'tokens')}
        />
        <PictureField />
        <Rules />
      </SentForm>
    </>
  )
}

/** Whether only a part of a day or time was typed. */
function isIncomplete(form: HTMLFormElement, field: string): boolean {
  return hasIncompleteField(form.querySelector<HTMLInputElement>(`#${field}`))
}

/** First and last day, each with a time of day that may be left out. */
function TimeFields() {
  return (
    <>
      {(['first', 'last'] as const).map((which) => (
        <div key={which} class="day-and-time">
          {([`${which}_day`, `${which}_time`] as const).map((field) => (
            <LineField
              key={field}
              id={field}
              place={field}
              label={text(`organise.make.${field}`)}
              hint=""
              input={{ class: 'short', type: field.endsWith('_day') ? 'date' : 'time' }}
              value={draft.value[field]}
              onType={(typed) => changeDraft({ [field]: typed }, field)}
            />
          ))}
        </div>
      ))}
      <Hours />
    </>
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
      <p>{text('organise.make.everybody_sees')}</p>
    </fieldset>
  )
}
