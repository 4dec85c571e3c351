import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { ActionFault } from './action-fault.tsx'
import type { Action } from './use-action.ts'

interface FieldFormProps<Value> {
  readonly id: string
  readonly label: string
  readonly hint?: string
  readonly wrongWords: string
  /** The words of the button. */
  readonly submit: string
  readonly maxLength: number
  readonly inputMode?: 'numeric' | 'text'
  /** What sends the value: its failure is shown until the field changes. */
  readonly action: Action
  /** What is said of the last value that was sent. */
  readonly children: ComponentChildren
  /** The value of what is typed; undefined where it cannot be sent. */
  read(typed: string): Value | undefined
  /** Sends it; then the field is emptied, unless another value was typed meanwhile. */
  send(value: Value): Promise<void>
  /** As in {@link ActionFault}. */
  wordsOf?(fault: unknown): string | undefined
}

/** A form with one field, whose value is checked before it is sent. */
export function FieldForm<Value>(props: FieldFormProps<Value>) {
  const { id, label, hint, wrongWords, submit, maxLength, inputMode = 'text', action } = props
  const { children, read, send, wordsOf } = props
  const typed = useSignal('')
  const isWrong = useSignal(false)
  const sendTyped = async () => {
    const sent = typed.value
    const value = read(sent)
    isWrong.value = value === undefined
    if (value === undefined) return
    await send(value)
    if (typed.peek() === sent) typed.value = ''
  }
  return (
    <form
      noValidate
      onSubmit={(submitted) => {
        submitted.preventDefault()
        void action.run(sendTyped)
      }}
    >
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
          aria-describedby={`${id}-hint ${id}-wrong ${id}-fault`}
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
      <button type="submit" aria-disabled={action.isBusy.value}>
        {submit}
      </button>
      <div role="status">{children}</div>
      <ActionFault id={`${id}-fault`} action={action} {...(wordsOf && { wordsOf })} />
    </form>
  )
}
