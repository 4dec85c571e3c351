import { useEffect } from 'preact/hooks'
import { isolated } from '../texts/bidi.ts'
import { text } from '../texts/texts.ts'
import { Notice } from '../ui/notice.tsx'
import { EditCodeField } from './edit-code-field.tsx'
import { Field } from './field.tsx'
import {
  eventId,
  eventIdText,
  isBusy,
  isRefused,
  leaveEventStep,
  lookUp,
  lookUpEvent,
  registered,
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
