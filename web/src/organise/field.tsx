import type { ComponentChildren, RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { fault, furtherFaults } from './fault-state.ts'
import type { RefusalPlace } from './refusal-place.ts'

/** Attributes that connect an input with its label, hint and error. */
export interface FieldParts<Input extends HTMLElement> {
  readonly id: string
  readonly ref: RefObject<Input | null>
  readonly 'aria-describedby': string
  readonly 'aria-invalid': true | undefined
}

interface FieldProps<Input extends HTMLElement> {
  readonly id: string
  readonly place: RefusalPlace
  readonly label: string
  readonly hint: ComponentChildren
  /** An error that is found before a request is sent. */
  readonly earlyFault?: string | undefined
  /** Between input and fault. */
  readonly below?: ComponentChildren
  children(parts: FieldParts<Input>): ComponentChildren
}

/** A label, a hint, an input, and what is wrong with it. A fault takes the focus to the input. */
export function Field<Input extends HTMLElement>(props: FieldProps<Input>) {
  const { id, place, label, hint, earlyFault, below, children } = props
  const input = useRef<Input>(null)
  const mine = fault.value?.place === place ? fault.value : undefined
  useLayoutEffect(() => {
    if (mine) input.current?.focus()
  }, [mine])
  const further = furtherFaults.value.find((one) => one.place === place)
  const sentence = (mine ?? further)?.say() ?? earlyFault
  const parts = {
    id,
    ref: input,
    'aria-describedby': `${id}-hint ${id}-fault`,
    'aria-invalid': sentence ? (true as const) : undefined,
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="hint" id={`${id}-hint`}>
        {hint}
      </div>
      {children(parts)}
      {below}
      <p class="fault" id={`${id}-fault`} role="alert">
        {sentence}
      </p>
    </div>
  )
}
