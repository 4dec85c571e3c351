import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { isolated } from '../texts/bidi.ts'
import { text } from '../texts/texts.ts'
import { Notice } from '../ui/notice.tsx'
import { heldEditCode, isEditCodeHeld, MAX_EDIT_CODE_LENGTH } from './edit-code.ts'
import { Field, type FieldParts } from './field.tsx'
import {
  eventId,
  eventIdText,
  isBusy,
  isRefused,
  leaveEventStep,
  lookUp,
  lookUpEvent,
  registered,
  typeEditCode,
  typeEventId,
} from './form-state.ts'
import { isMadeHere } from './made-here.ts'
import { StepFault } from './step-fault.tsx'
import { StepHeading } from './step-heading.tsx'

/**
 * The event is looked up this long after the last digit. Not when the field loses the focus: the result moves the
 * buttons, and a button that moves during a click is missed.
 */
const LOOK_UP_AFTER_MS = 400

/** Step 1: which event, and the proof of being its organiser. */
export function EventStep() {
  const id = eventId.value
  const isOwn = id !== undefined && isMadeHere({ id: Number(id) })
  useEffect(() => {
    const timer = window.setTimeout(lookUpEvent, LOOK_UP_AFTER_MS)
    return () => window.clearTimeout(timer)
  }, [id])
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void leaveEventStep()
      }}
    >
      <StepHeading step="event">{text('organise.event.heading')}</StepHeading>
      {!isOwn && <p>{text('organise.event.where_from')}</p>}
      <EventIdField />
      <EditCodeField isOwn={isOwn} />
      <WhatIsKnown />
      <StepFault />
      <div class="row actions">
        <button type="submit" class="primary" aria-disabled={isBusy.value}>
          {primaryText()}
        </button>
        {registered.value && !isOwn && (
          <button type="button" aria-disabled={isBusy.value} onClick={() => void leaveEventStep('codes')}>
            {text('organise.event.more_codes')}
          </button>
        )}
      </div>
    </form>
  )
}

function primaryText(): string {
  if (isRefused.value) return text('common.retry')
  return registered.value ? text('organise.event.change_places') : text('organise.next')
}

function EventIdField() {
  return (
    <Field<HTMLInputElement>
      id="event-id"
      place="event"
      label={text('organise.event.id')}
      hint={text('organise.event.id_hint')}
    >
      {(parts) => (
        <input
          {...parts}
          class="short"
          inputMode="numeric"
          autocomplete="off"
          maxLength={20}
          value={eventIdText.value}
          onInput={({ currentTarget }) => typeEventId(currentTarget.value)}
        />
      )}
    </Field>
  )
}

/**
 * A browser must neither store nor suggest the edit code: the field has no name, no value attribute and no spell check.
 * Password managers offer to save fields that ever had the type `password`, whatever `autocomplete` says, so the text
 * is hidden by CSS. `autocomplete="off"` also keeps it out of saved browser sessions.
 */
function EditCodeField({ isOwn }: { readonly isOwn: boolean }) {
  return (
    <Field<HTMLInputElement>
      id="edit-code"
      place="edit_code"
      label={text('organise.event.code')}
      hint={text(isOwn ? 'organise.event.code_hint_here' : 'organise.event.code_hint')}
    >
      {(parts) => <EditCodeInput parts={parts} />}
    </Field>
  )
}

/** Attributes that password manager extensions honour. */
const FOR_PASSWORD_MANAGERS = {
  'data-1p-ignore': '',
  'data-bwignore': '',
  'data-lpignore': 'true',
  'data-form-type': 'other',
}
const CAN_HIDE_TEXT = CSS.supports('-webkit-text-security', 'disc')

function EditCodeInput({ parts }: { readonly parts: FieldParts<HTMLInputElement> }) {
  const isShown = useSignal(false)
  const input = parts.ref
  useEffect(() => {
    // The value is set only here, so it never becomes part of the rendered HTML.
    if (input.current) input.current.value = heldEditCode()
  }, [])
  const isHeld = isEditCodeHeld.value
  useEffect(() => {
    if (!isHeld && input.current) input.current.value = ''
  }, [isHeld])
  return (
    <div class="row secret">
      <input
        {...parts}
        class={isShown.value ? 'short' : 'short hidden-text'}
        {...(isShown.value || CAN_HIDE_TEXT ? ({ type: 'text' } as const) : ({ type: 'password' } as const))}
        aria-label={text('organise.event.code_secret')}
        autocomplete="off"
        autocapitalize="none"
        autocorrect="off"
        spellcheck={false}
        {...FOR_PASSWORD_MANAGERS}
        maxLength={MAX_EDIT_CODE_LENGTH}
        onInput={({ currentTarget }) => typeEditCode(currentTarget.value)}
      />
      <button
        type="button"
        class="quiet"
        aria-pressed={isShown.value}
        aria-controls={parts.id}
        onClick={() => {
          isShown.value = !isShown.value
        }}
      >
        {text('organise.event.show_code')}
      </button>
    </div>
  )
}

/** Says whether the event is registered here, once its id is complete. */
function WhatIsKnown() {
  const seen = lookUp.value
  if (!seen || seen.eventId !== eventId.value || 'error' in seen) return null
  return (
    <Notice kind="info">
      <p>
        {seen.found
          ? text('organise.event.known', { name: isolated(seen.found.name) })
          : text('organise.event.new')}
      </p>
    </Notice>
  )
}
