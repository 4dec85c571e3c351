import { attendance, type EventInfo, LandpassError } from '@landpass/client'
import { useSignal } from '@preact/signals'
import { text } from '../texts/texts.ts'
import { isResting } from './controls/controls-session.ts'
import { isEditCodeHeld } from './edit-code.ts'
import { attempt, fault, faultAt } from './fault-state.ts'
import { finish } from './form-state.ts'
import { dropKeptCode } from './kept-codes.ts'
import { forgetMyEvent } from './my-events.ts'
import { placeOf } from './refusal-place.ts'
import { sendAsOrganiser } from './send-as-organiser.ts'
import { SentForm } from './sent-form.tsx'
import { showForm } from './shown-event.ts'

interface EndEventProps {
  readonly info: EventInfo
  onEnded(): void
}

/** Cancels an event that was made here, takes that back, or deletes one without tokens. It uses the edit code of the form above. */
export function EndEvent({ info, onEnded }: EndEventProps) {
  const { cancelled } = info
  const isDeleting = useSignal(false)
  const cancel = () =>
    send('end', async () => {
      const { event } = await sendAsOrganiser(String(info.id), ({ editCode }) =>
        attendance.changeMadeEvent(info.id, editCode, { cancelled: !cancelled }),
      )
      finish(event, { kind: cancelled ? 'resumed' : 'cancelled' }, isResting(event))
      onEnded()
    })
  const remove = () =>
    send('delete', async () => {
      await sendAsOrganiser(String(info.id), ({ editCode }) => attendance.deleteEvent(info.id, editCode))
      forgetMyEvent(info.uuid)
      dropKeptCode(info.uuid)
      showForm()
    })
  return (
    <details class="card tool" data-part="end">
      <summary>{text('organise.end.heading')}</summary>
      <p>{text(cancelled ? 'organise.end.cancelled' : 'organise.end.explained')}</p>
      <SentForm
        place="end"
        submit={text(cancelled ? 'organise.end.resume' : 'organise.end.cancel')}
        busy={text('organise.change.busy')}
        isPrimary={false}
        onSend={() => void cancel()}
      >
        {null}
      </SentForm>
      <SentForm
        place="delete"
        submit={text(isDeleting.value ? 'organise.end.delete_now' : 'organise.end.delete')}
        busy={text('organise.change.busy')}
        isPrimary={false}
        onSend={() => {
          if (isDeleting.value) void remove()
          else isDeleting.value = true
        }}
      >
        <p role="status">{isDeleting.value && text('organise.end.delete_explained')}</p>
      </SentForm>
    </details>
  )
}

async function send(at: 'end' | 'delete', work: () => Promise<void>): Promise<void> {
  if (!isEditCodeHeld.peek()) {
    fault.value = { place: 'edit_code', say: () => text('organise.change.code_missing') }
    return
  }
  await attempt(
    work,
    (error) => {
      const isWrong = error instanceof LandpassError && placeOf(error) === 'edit_code'
      fault.value = isWrong
        ? { place: 'edit_code', say: () => text('organise.change.wrong_code') }
        : faultAt(at, error)
    },
    at,
  )
}
