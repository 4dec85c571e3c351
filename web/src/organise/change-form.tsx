import { useLayoutEffect } from 'preact/hooks'
import { withoutTurns } from '../texts/bidi.ts'
import { text } from '../texts/texts.ts'
import { useFirstFocus } from '../ui/focus.ts'
import { usePageTitle } from '../ui/page-title.ts'
import type { ChangeFormProps } from './change-form-props.ts'
import {
  changeDraft,
  hasTokens,
  hidesHolders,
  openChange,
  refuseChangedPicture,
  saveChange,
  typeChange,
  typeTimes,
} from './change-state.ts'
import { EditCodeField } from './edit-code-field.tsx'
import { EndEvent } from './end-event.tsx'
import { DescriptionField, LinkField, NameField, PlacesFields, Rule, TokensField } from './event-fields.tsx'
import { TimeFields } from './event-times.tsx'
import { TIME_PLACES } from './event-times-state.ts'
import { hasIncompleteField } from './incomplete-field.ts'
import { PictureField } from './picture-field.tsx'
import { SentForm } from './sent-form.tsx'
import { showEvent, shownEvent } from './shown-event.ts'
import { TakeBack } from './take-back.tsx'

/** Corrects, moves and ends an event that was made here. */
export function ChangeForm({ info, availability: { total }, onSaved }: ChangeFormProps) {
  const title = text('organise.todo.change')
  usePageTitle(title)
  const heading = useFirstFocus<HTMLHeadingElement>()
  useLayoutEffect(() => openChange(info, total), [info.uuid])
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      <p class="lead" dir="auto">
        {withoutTurns(info.name)}
      </p>
      <Fields info={info} total={total} onSaved={onSaved} />
      <TakeBack info={info} />
      <EndEvent info={info} onEnded={onSaved} />
    </>
  )
}

interface FieldsProps extends Pick<ChangeFormProps, 'info' | 'onSaved'> {
  readonly total: number
}

function Fields({ info, total, onSaved }: FieldsProps) {
  const entered = changeDraft.value
  if (!entered) return null
  const incompleteIn = (form: HTMLFormElement) =>
    TIME_PLACES.filter((field) => hasIncompleteField(form.querySelector<HTMLInputElement>(`#${field}`)))
  return (
    <SentForm
      class="card step make"
      submit={text('organise.register.save')}
      busy={text('organise.change.busy')}
      onSend={(form) => void saveChange(info, total, { incomplete: incompleteIn(form), onSaved })}
      actions={
        <button type="button" onClick={() => showEvent(shownEvent.peek() ?? info.uuid)}>
          {text('organise.back')}
        </button>
      }
    >
      <EditCodeField isOwn account={info.name} />
      <NameField value={entered.name} onType={(name) => typeChange({ name }, 'name')} />
      <DescriptionField
        value={entered.description}
        onType={(description) => typeChange({ description }, 'description')}
      />
      <LinkField value={entered.link} onType={(link) => typeChange({ link }, 'link')} />
      <h2>{text('organise.make.places')}</h2>
      <PlacesFields />
      <h2>{text('organise.make.times')}</h2>
      <TimeFields times={entered.times} hasTimes={entered.hasTimes} onChange={typeTimes} />
      <h2>{text('organise.make.token_heading')}</h2>
      {hasTokens(total) && (
        <TokensField
          hint={text('organise.change.tokens_hint', { count: total })}
          value={entered.tokens}
          onType={(tokens) => typeChange({ tokens }, 'tokens')}
        />
      )}
      <PictureField
        image={entered.image}
        onChoose={(image) => typeChange({ image }, 'picture')}
        onRefuse={refuseChangedPicture}
      />
      {hidesHolders.value !== undefined && (
        <Rule
          label={text('organise.make.hide_holders')}
          isOn={hidesHolders.value}
          onChange={(isOn) => {
            hidesHolders.value = isOn
          }}
        />
      )}
      <p>{text('organise.make.everybody_sees')}</p>
      <p>{text('organise.change.explained')}</p>
    </SentForm>
  )
}
