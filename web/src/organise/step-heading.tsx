import { text } from '../texts/texts.ts'
import { useFirstFocus } from '../ui/focus.ts'
import { fault } from './fault-state.ts'
import { numberOf, STEPS, type Step } from './steps.ts'

/** Heading of a step. It takes the focus, so that screen readers announce the step. */
export function StepHeading({ step, children }: { readonly step: Step; readonly children: string }) {
  // A field with an error takes the focus itself
  const isAtField = (fault.peek()?.place ?? 'step') !== 'step'
  const heading = useFirstFocus<HTMLHeadingElement>(!isAtField)
  return (
    <h2 ref={heading} tabIndex={-1} class="step-heading">
      <span class="step-count">
        {text('organise.progress', { number: numberOf(step), count: STEPS.length })}
      </span>
      {children}
    </h2>
  )
}
