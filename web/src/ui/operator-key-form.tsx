import { LandpassError } from '@landpass/client'
import { useSignal } from '@preact/signals'
import { failureText } from '../texts/refusal.ts'
import { text } from '../texts/texts.ts'

interface OperatorKeyFormProps {
  /** What the button says. */
  readonly action: string
  /** Reads what the page shows, with this key. @throws what the server refuses */
  open(key: string): Promise<void>
}

/** Asks for the operator's key, which stays in the memory of this page. */
export function OperatorKeyForm({ action, open }: OperatorKeyFormProps) {
  const key = useSignal('')
  const isBusy = useSignal(false)
  const fault = useSignal('')
  const submit = async () => {
    if (isBusy.peek()) return
    isBusy.value = true
    fault.value = ''
    try {
      await open(key.value.trim())
    } catch (error) {
      const isWrong = error instanceof LandpassError && error.code === 'operator_only'
      fault.value = isWrong ? text('approve.wrong_key') : failureText(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <form
      class="card"
      noValidate
      onSubmit={(submitted) => {
        submitted.preventDefault()
        void submit()
      }}
    >
      <div class="field">
        <label for="operator-key">{text('approve.key')}</label>
        <p class="hint" id="operator-key-hint">
          {text('approve.key_hint')}
        </p>
        <input
          id="operator-key"
          type="password"
          autocomplete="off"
          value={key.value}
          aria-describedby="operator-key-hint operator-key-fault"
          onInput={({ currentTarget }) => {
            key.value = currentTarget.value
            fault.value = ''
          }}
        />
        <p class="fault" id="operator-key-fault" role="alert">
          {fault.value}
        </p>
      </div>
      <button type="submit" class="primary" aria-disabled={isBusy.value}>
        {action}
      </button>
    </form>
  )
}
