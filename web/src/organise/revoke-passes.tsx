import { attendance } from '@landpass/client'
import { useSignal } from '@preact/signals'
import { text } from '../texts/texts.ts'
import { Notice } from '../ui/notice.tsx'
import { isEditCodeHeld } from './edit-code.ts'
import { attempt, fault, faultAt } from './fault-state.ts'
import { placeOf } from './refusal-place.ts'
import { sendAsOrganiser } from './send-as-organiser.ts'
import { SentForm } from './sent-form.tsx'

/** Makes all passes of an event invalid. It uses the edit code of the form above. @param eventId the issuer's number */
export function RevokePasses({ eventId }: { readonly eventId: string }) {
  const isDone = useSignal(false)
  const revoke = async () => {
    isDone.value = false
    if (!isEditCodeHeld.value) {
      fault.value = { place: 'edit_code', say: () => text('organise.change.code_missing') }
      return
    }
    await attempt(
      async () => {
        await sendAsOrganiser(eventId, (credentials) =>
          attendance.changeEvent(eventId, credentials, { revoke_passes: true }),
        )
        isDone.value = true
      },
      (error) => {
        const place = placeOf(error)
        fault.value = faultAt(place === 'edit_code' ? place : 'passes', error)
      },
      'passes',
    )
  }
  return (
    <details class="card tool">
      <summary>{text('organise.passes.heading')}</summary>
      <p>{text('organise.passes.explained')}</p>
      <SentForm
        place="passes"
        submit={text('organise.passes.submit')}
        busy={text('organise.change.busy')}
        isPrimary={false}
        onSend={() => void revoke()}
      >
        {isDone.value && (
          <Notice kind="success">
            <p>{text('organise.passes.done')}</p>
          </Notice>
        )}
      </SentForm>
    </details>
  )
}
