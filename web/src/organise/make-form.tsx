import { text } from '../texts/texts.ts'
import { HelpLink } from '../ui/help-link.tsx'
import { usePageTitle } from '../ui/page-title.ts'
import { MAX_PLACES } from './coordinates.ts'
import { DescriptionField, LinkField, NameField, PlacesFields, Rule, TokensField } from './event-fields.tsx'
import { TimeFields } from './event-times.tsx'
import { TIME_PLACES } from './event-times-state.ts'
import { eventMakers, whyClosed } from './event-ways.ts'
import { hasIncompleteField } from './incomplete-field.ts'
import { changeDraft, draft, refusePicture, reviewEvent } from './make-state.ts'
import { PictureField } from './picture-field.tsx'
import { SentForm } from './sent-form.tsx'
import { OtherWay } from './way-choice.tsx'

/** Makes an event whose tokens this server signs. */
export function MakeForm() {
  usePageTitle(text('organise.way.here'))
  return (
    <>
      <h1>{text('organise.way.here')}</h1>
      <p class="lead">
        {text('organise.way.here_explained')} <HelpLink to="organisers#make-the-event" />
      </p>
      {eventMakers() === 'approved' && <p>{text('organise.way.here_approved')}</p>}
      {whyClosed('poap') && <p class="hint">{text('organise.way.no_poap')}</p>}
      <OtherWay />
      <SentForm
        class="card step make"
        submit={text('organise.make.review')}
        busy={text('organise.make.busy')}
        onSend={(form) => reviewEvent(TIME_PLACES.filter((field) => isIncomplete(form, field)))}
      >
        <h2>{text('organise.make.heading')}</h2>
        <NameField value={draft.value.name} onType={(name) => changeDraft({ name }, 'name')} />
        <DescriptionField
          value={draft.value.description}
          onType={(description) => changeDraft({ description }, 'description')}
        />
        <LinkField value={draft.value.link} onType={(link) => changeDraft({ link }, 'link')} />
        <h2>{text('organise.make.places')}</h2>
        <p>{text('organise.make.places_explained', { count: MAX_PLACES })}</p>
        <PlacesFields />
        <h2>{text('organise.make.times')}</h2>
        <TimeFields times={draft.value} onChange={changeDraft} />
        <h2>{text('organise.make.token_heading')}</h2>
        <TokensField
          hint={text('organise.make.tokens_hint')}
          value={draft.value.tokens}
          onType={(tokens) => changeDraft({ tokens }, 'tokens')}
        />
        <PictureField
          image={draft.value.image}
          onChoose={(image) => changeDraft({ image }, 'picture')}
          onRefuse={refusePicture}
        />
        <Rules />
      </SentForm>
    </>
  )
}

/** Whether only a part of a day or time was typed. */
function isIncomplete(form: HTMLFormElement, field: string): boolean {
  return hasIncompleteField(form.querySelector<HTMLInputElement>(`#${field}`))
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
