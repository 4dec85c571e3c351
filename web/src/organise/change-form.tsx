import type { EventInfo } from '@landpass/client'
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Availability } from '../api/attendance.ts'
import { withoutTurns } from '../texts/bidi.ts'
import { text } from '../texts/texts.ts'
import { isServed } from '../ui/interfaces.ts'
import { usePageTitle } from '../ui/page-title.ts'
import { Busy } from './busy.tsx'
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
import { Field } from './field.tsx'
import { fault, isBusy, isRefused } from './form-state.ts'
import { MAX_DESCRIPTION_LENGTH } from './make-state.ts'
import { PlacesMap } from './places-map.tsx'
import { PlacesField } from './places-step.tsx'
import { useSecondsUntil } from './seconds-until.ts'
import { showEvent } from './shown-event.ts'
import { StepFault } from './step-fault.tsx'

interface ChangeFormProps {
  readonly info: EventInfo
  readonly availability: Availability
  /** Called after the change. */
  onSaved(): void
}

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
      {isFilled.value && <Fields info={info} total={total} onSaved={onSaved} />}
    </>
  )
}

interface FieldsProps extends Pick<ChangeFormProps, 'info' | 'onSaved'> {
  readonly total: number
}

function Fields({ info, total, onSaved }: FieldsProps) {
  const mustWait = useSecondsUntil(fault.value?.untilMs) > 0
  return (
    <form
      class="card step make"
      noValidate
      onSubmit={(submitted) => {
        submitted.preventDefault()
        if (!mustWait) void saveChange(info, total, onSaved)
      }}
    >
      <EditCodeField isOwn />
      {isServed('land') && <PlacesMap />}
      <PlacesField />
      {hasTokens(total) && <TokensField total={total} />}
      <DescriptionField />
      {hidesHolders.value !== undefined && (
        <label class="rule">
          <input
            type="checkbox"
            checked={hidesHolders.value}
            onChange={({ currentTarget }) => {
              hidesHolders.value = currentTarget.checked
            }}
          />
          {text('organise.make.hide_holders')}
        </label>
      )}
      <p>{text('organise.change.explained')}</p>
      <StepFault />
      <Busy label={text('organise.change.busy')} />
      <div class="row actions">
        <button type="submit" class="primary" disabled={mustWait} aria-disabled={isBusy.value}>
          {isRefused.value ? text('common.retry') : text('organise.register.save')}
        </button>
        <button type="button" onClick={() => showEvent(info.uuid)}>
          {text('organise.back')}
        </button>
      </div>
    </form>
  )
}

function DescriptionField() {
  return (
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
          value={descriptionText.value}
          onInput={({ currentTarget }) => typeDescription(currentTarget.value)}
        />
      )}
    </Field>
  )
}

function TokensField({ total }: { readonly total: number }) {
  return (
    <Field<HTMLInputElement>
      id="tokens"
      place="tokens"
      label={text('organise.make.tokens')}
      hint={text('organise.change.tokens_hint', { count: total })}
    >
      {(parts) => (
        <input
          {...parts}
          class="short"
          inputMode="numeric"
          autocomplete="off"
          maxLength={9}
          value={tokensText.value}
          onInput={({ currentTarget }) => typeTokens(currentTarget.value)}
        />
      )}
    </Field>
  )
}
