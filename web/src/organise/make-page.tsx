import { MadeEvent } from './made-event.tsx'
import { made } from './made-state.ts'
import { MakeForm } from './make-form.tsx'

/** The form that makes an event here; then its edit code, which is shown this once. */
export function MakePart() {
  return made.value ? <MadeEvent made={made.value} /> : <MakeForm />
}
