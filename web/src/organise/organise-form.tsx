import { useLayoutEffect } from 'preact/hooks'
import { text } from '../texts/texts.ts'
import { HelpLink } from '../ui/help-link.tsx'
import { usePageTitle } from '../ui/page-title.ts'
import { CodesStep } from './codes-step.tsx'
import { showOwnPlaces } from './event-state.ts'
import { EventStep } from './event-step.tsx'
import { goTo, progress, step } from './form-state.ts'
import { PlacesStep } from './places-step.tsx'
import { RegisterStep } from './register-step.tsx'
import { isReachable, numberOf, STEPS, type Step } from './steps.ts'
import { OtherWay } from './way-choice.tsx'

const STEP_PARTS = { event: EventStep, places: PlacesStep, register: RegisterStep, codes: CodesStep }

/** From the issuer's e-mail to an event at which players get tokens, in four steps. */
export function OrganiseForm() {
  usePageTitle(text('organise.title'))
  useLayoutEffect(showOwnPlaces, [])
  const Part = STEP_PARTS[step.value]
  return (
    <>
      <h1>{text('organise.title')}</h1>
      <p class="lead">
        {text('organise.intro')} <HelpLink to="organisers#make-the-event" />
      </p>
      <OtherWay isBegin={step.value === 'event'} />
      <Steps />
      <section class="card step">
        <Part />
      </section>
    </>
  )
}

function Steps() {
  return (
    <nav class="steps" aria-label={text('organise.steps')}>
      <ol>
        {STEPS.map((name) => (
          <li key={name} class={classOf(name)}>
            <button
              type="button"
              class="quiet"
              aria-current={name === step.value ? 'step' : undefined}
              disabled={!isReachable(name, progress.value)}
              onClick={() => goTo(name)}
            >
              <span class="step-number" aria-hidden="true">
                {numberOf(name)}
              </span>
              <span class="step-name">{text(`organise.step.${name}`)}</span>
            </button>
          </li>
        ))}
      </ol>
    </nav>
  )
}

function classOf(name: Step): string {
  if (name === step.value) return 'now'
  return numberOf(name) < numberOf(step.value) ? 'done' : 'to-come'
}
