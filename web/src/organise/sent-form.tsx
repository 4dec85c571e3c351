import type { ComponentChildren } from 'preact'
import { text } from '../texts/texts.ts'
import { Busy } from './busy.tsx'
import { fault, isBusy } from './fault-state.ts'
import type { RequestPlace } from './refusal-place.ts'
import { useSecondsUntil } from './seconds-until.ts'
import { StepFault } from './step-fault.tsx'

interface SentFormProps {
  readonly class?: string
  /** The words of the button that sends the form. */
  readonly submit: string
  /** What is shown while the request runs. */
  readonly busy: string
  readonly children: ComponentChildren
  /** Buttons beside the first one. */
  readonly actions?: ComponentChildren
  /** The part of a page with several forms. */
  readonly place?: RequestPlace
  /** False where another button is the first choice. */
  readonly isPrimary?: boolean
  onSend(form: HTMLFormElement): void
}

/** A form whose button sends a request: with its failure, and closed while the server names a waiting time. */
export function SentForm(props: SentFormProps) {
  const { submit, busy, children, actions, place = 'step', isPrimary = true, onSend } = props
  const mustWait = useSecondsUntil(fault.value?.untilMs) > 0
  return (
    <form
      class={props.class}
      noValidate
      onSubmit={(submitted) => {
        submitted.preventDefault()
        if (!mustWait) onSend(submitted.currentTarget)
      }}
    >
      {children}
      <StepFault place={place} />
      <Busy label={busy} place={place} />
      <div class="row actions">
        <button
          type="submit"
          class={isPrimary ? 'primary' : ''}
          disabled={mustWait}
          aria-disabled={isBusy.value}
        >
          {fault.value?.place === place ? text('common.retry') : submit}
        </button>
        {actions}
      </div>
    </form>
  )
}
