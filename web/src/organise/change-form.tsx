import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { withoutTurns } from '../texts/bidi.ts'
import { text } from '../texts/texts.ts'
import { usePageTitle } from '../ui/page-title.ts'
import type { ChangeFormProps } from './change-form-props.ts'
import {
  descriptionText,
  hasTokens,
  hidesHolders,
  openChange,
  saveChange,
  tokensText,
  typeDescription,
  typeTokens,
} from './change-state.ts'
import { EditCodeField } from './edit-code-field.tsx'
import { DescriptionField, PlacesFields, Rule, TokensField } from './event-fields.tsx'
import { SentForm } from './sent-form.tsx'
import { showEvent, shownEvent } from './shown-event.ts'
import { TakeBack } from './take-back.tsx'

/** Other places, more tokens, another description and who sees the holders, for an event that was made here. */
export function ChangeForm({ info, availability: { total }, onSaved }: ChangeFormProps) {
  const title = text('organise.todo.change')
  usePageTitle(title)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (navigator.userActivation.hasBeenActive) heading.current?.focus()
  }, [])
  // The map begins at the places that are there when it is first shown
  const isFilled = useSignal(false)
  useEffect(() => {
    const close = openChange(info, total)
    isFilled.value = true
    return close
  }, [info.uuid])
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      <p class="lead" dir="auto">
        {withoutTurns(info.name)}
      </p>
      {isFilled.value && (
        <>
          <Fields info={info} total={total} onSaved={onSaved} />
          <TakeBack info={info} />
        </>
      )}
    </>
  )
}

interface FieldsProps extends Pick<ChangeFormProps, 'info' | 'onSaved'> {
  readonly total: number
}

function Fields({ info, total, onSaved }: FieldsProps) {
  return (
    <SentForm
      class="card step make"
      submit={text('organise.register.save')}
      busy={text('organise.change.busy')}
      onSend={() => void saveChange(info, total, onSaved)}
      actions={
        <button type="button" onClick={() => showEvent(shownEvent.peek() ?? info.uuid)}>
          {text('organise.back')}
        </button>
      }
    >
      <EditCodeField isOwn />
      <PlacesFields />
      {hasTokens(total) && (
        <TokensField
          hint={text('organise.change.tokens_hint', { count: total })}
          value={tokensText.value}
          onType={typeTokens}
        />
      )}
      <DescriptionField value={descriptionText.value} onType={typeDescription} />
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
