import './organise.css'
import { useEffect } from 'preact/hooks'

import { PageHeader } from '../ui/page-header.tsx'
import { forgetWhenLeft } from './edit-code.ts'
import { returnTo } from './form-state.ts'
import { LivePage } from './live-page.tsx'
import { OrganiseForm } from './organise-form.tsx'
import { followAddress, shownEvent } from './shown-event.ts'

/** The organiser's form, and the live page of an event. */
export function OrganisePage() {
  useEffect(() => followAddress(returnTo), [])
  useEffect(() => forgetWhenLeft(), [])
  const name = shownEvent.value
  return (
    <div class="organise-page">
      <PageHeader current="organise" />
      <main>{name === undefined ? <OrganiseForm /> : <LivePage key={name} name={name} />}</main>
    </div>
  )
}
