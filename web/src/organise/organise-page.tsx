import './organise.css'
import { useLayoutEffect } from 'preact/hooks'
import { PageHeader } from '../ui/page-header.tsx'
import { forgetWhenLeft } from './edit-code.ts'
import { returnTo } from './form-state.ts'
import { LateMakeForm } from './late-part.tsx'
import { LivePage } from './live-page.tsx'
import { made } from './made-state.ts'
import { OrganiseForm } from './organise-form.tsx'
import { followAddress, shownEvent, shownWay } from './shown-event.ts'
import { WayChoice } from './way-choice.tsx'

/** The organiser's forms, and the live page of an event. */
export function OrganisePage() {
  useLayoutEffect(() => {
    followAddress(returnTo)
    forgetWhenLeft()
  }, [])
  const name = shownEvent.value
  return (
    <div class="organise-page">
      <PageHeader current="organise" />
      <main>{name === undefined ? <Form /> : <LivePage key={name} name={name} />}</main>
    </div>
  )
}

function Form() {
  // First of all: the edit code of a new event is shown this once
  if (made.value) return <LateMakeForm />
  switch (shownWay.value) {
    case 'here':
      return <LateMakeForm />
    case 'poap':
      return <OrganiseForm />
    default:
      return <WayChoice />
  }
}
