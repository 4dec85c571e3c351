import type { Signal } from '@preact/signals'
import type { Action } from './use-action.ts'

interface TextFieldProps {
  readonly id: string
  readonly label: string
  readonly hint?: string
  readonly typed: Signal<string>
  /** Whether what is typed cannot be sent: until it changes. */
  readonly isWrong: Signal<boolean>
  readonly wrongWords: string
  /** What sends it: its failure is shown until the value changes. */
  readonly action: Action
  /** Id of the element that says why the server refused it. */
  readonly faultId: string
  readonly maxLength: number
  readonly inputMode?: 'numeric' | 'text'
}

/** A field of one line for a value that is checked before it is sent. */
export function TextField(props: TextFieldProps) {
  const {
    id,
    label,
    hint,
    typed,
    isWrong,
    wrongWords,
    action,
    faultId,
    maxLength,
    inputMode = 'text',
  } = props
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
      <input
        id={id}
        class={inputMode === 'numeric' ? 'short' : ''}
        inputMode={inputMode}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        maxLength={maxLength}
        value={typed.value}
        aria-invalid={isWrong.value || undefined}
        aria-describedby={`${id}-hint ${id}-wrong ${faultId}`}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value
          isWrong.value = false
          action.fault.value = undefined
        }}
      />
      <p class="fault" id={`${id}-wrong`} role="alert">
        {isWrong.value && wrongWords}
      </p>
    </div>
  )
}
