import { useEffect } from 'preact/hooks'
import { isolated } from '../texts/bidi.ts'
import { text } from '../texts/texts.ts'
import { Notice } from '../ui/notice.tsx'
import { EditCodeField } from './edit-code-field.tsx'
import { LineField } from './event-fields.tsx'
import {
  eventId,
  eventName,
  eventText,
  lookUp,
  lookUpEvent,
  pastedEditCode,
  pastedFaultText,
  registered,
  typeEvent,
} from './event-state.ts'
import { isBusy } from './fault-state.ts'
import { leaveEventStep } from './form-state.ts'
import { isMadeHere } from './made-here.ts'
import { RevokePasses } from './revoke-passes.tsx'
import { SentForm } from './sent-form.tsx'
import { StepHeading } from './step-heading.tsx'

/**
 * The event is looked up this long after the last digit. Not when the field loses the focus: the result moves the
 * buttons, and a button that moves during a click is missed.
 */
const LOOK_UP_AFTER_MS = 400
/** Room for a pasted link, or for the sentence around it. */
const MAX_PASTED_LENGTH = 500

/** Step 1: which event, and the proof of being its organiser. */
export function EventStep() {
  const id = eventId.value
  const isOwn = id !== undefined && isMadeHere({ id: Number(id) })
  useEffect(() => {
    const timer = window.setTimeout(lookUpEvent, LOOK_UP_AFTER_MS)
    return () => window.clearTimeout(timer)
  }, [eventName.value])
  return (
    <>
      <SentForm
        submit={text(registered.value ? 'organise.event.change_places' : 'organise.next')}
        busy={text(isOwn ? 'organise.event.checking_here' : 'organise.event.checking')}
        onSend={() => void leaveEventStep()}
        actions={
          registered.value &&
          !isOwn && (
            <button type="button" aria-disabled={isBusy.value} onClick={() => void leaveEventStep('codes')}>
              {text('organise.event.more_codes')}
            </button>
          )
        }
      >
        <StepHeading step="event">{text('organise.event.heading')}</StepHeading>
        {!isOwn && <p>{text('organise.event.where_from')}</p>}
        <LineField
          id="event-id"
          place="event"
          label={text('organise.event.id')}
          hint={text('organise.event.id_hint')}
          earlyFault={pastedFaultText()}
          input={{ class: 'short', inputMode: 'numeric', maxLength: MAX_PASTED_LENGTH }}
          value={eventText.value}
          onType={(typed, input) => {
            input.value = typeEvent(typed)
          }}
        />
        <EditCodeField isOwn={isOwn} />
        <PastedEditCode />
        <WhatIsKnown />
      </SentForm>
      {registered.value && id !== undefined && !isOwn && <RevokePasses eventId={id} />}
    </>
  )
}

/** Says what became of an edit code that was pasted into the field of the event. */
function PastedEditCode() {
  const how = pastedEditCode.value
  if (!how) return null
  return (
    <Notice kind={how === 'taken' ? 'info' : 'warning'}>
      <p>{text(`organise.event.code_${how}`)}</p>
    </Notice>
  )
}

/** Says whether the event is registered here, once its name is complete. */
function WhatIsKnown() {
  const seen = lookUp.value
  if (!seen || seen.name !== eventName.value || 'error' in seen) return null
  if (seen.found) {
    return (
      <Notice kind="info">
        <p>{text('organise.event.known', { name: isolated(seen.found.name) })}</p>
      </Notice>
    )
  }
  // Only the issuer can know more
  const isOfIssuer = eventId.value !== undefined && !isMadeHere({ id: Number(eventId.value) })
  return (
    <Notice kind="info">
      <p>{text(isOfIssuer ? 'organise.event.not_here' : 'organise.event.unknown_here')}</p>
    </Notice>
  )
}
