import { attendance, type EventInfo, LandpassError } from '@landpass/client'
import { exportText } from '../../api/controls.ts'
import { text } from '../../texts/texts.ts'
import { saveFile } from '../../ui/save-file.ts'
import { ActionFault } from './action-fault.tsx'
import { sendForEvent } from './controls-session.ts'
import { useAction } from './use-action.ts'

/** The list of claims, and everything about the event, as files. */
export function Downloads({ event }: { readonly event: EventInfo }) {
  const csv = useAction()
  const everything = useAction()
  const nameOf = (kind: string, suffix: string) =>
    `landpass-${kind}-${event.id}-${new Date().toISOString().slice(0, 10)}.${suffix}`
  return (
    <section class="card">
      <h2>{text('controls.files.heading')}</h2>
      <p>{text('controls.files.explained')}</p>
      <div class="row">
        <button
          type="button"
          aria-disabled={csv.isBusy.value}
          aria-describedby="csv-fault"
          onClick={() =>
            void csv.run(async () =>
              saveFile(nameOf('claims', 'csv'), await sendForEvent(attendance.claimsCsv), 'text/csv'),
            )
          }
        >
          {text('controls.files.claims')}
        </button>
        <button
          type="button"
          aria-disabled={everything.isBusy.value}
          aria-describedby="export-fault"
          onClick={() =>
            void everything.run(async () =>
              saveFile(nameOf('event', 'json'), await sendForEvent(exportText), 'application/json'),
            )
          }
        >
          {text('controls.files.everything')}
        </button>
      </div>
      <ActionFault id="csv-fault" action={csv} wordsOf={wordsOfRunning} />
      <ActionFault id="export-fault" action={everything} wordsOf={wordsOfRunning} />
    </section>
  )
}

/** The server sends one file of each kind at a time: its refusal names the one that is being sent. */
function wordsOfRunning(fault: unknown): string | undefined {
  if (!(fault instanceof LandpassError) || fault.code !== 'too_many_requests') return undefined
  const seconds = fault.retryAfterS ?? 0
  switch (fault.data.file) {
    case 'claims':
      return text('controls.files.running_claims', { seconds })
    case 'export':
      return text('controls.files.running_export', { seconds })
    default:
      return undefined
  }
}
