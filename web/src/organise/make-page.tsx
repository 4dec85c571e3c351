import { useLayoutEffect } from 'preact/hooks'
import { MadeEvent } from './made-event.tsx'
import { made } from './made-state.ts'
import { MakeForm } from './make-form.tsx'
import { MakeReview } from './make-review.tsx'
import { isReviewing, openDraft } from './make-state.ts'

/** The form that makes an event here; what it is going to make; then the edit code, which is shown this once. */
export function MakePart() {
  useLayoutEffect(openDraft, [])
  if (made.value) return <MadeEvent made={made.value} />
  return isReviewing.value ? <MakeReview /> : <MakeForm />
}
