import './approve.css'
import { LandpassError } from '@landpass/client'
import { useSignal } from '@preact/signals'
import { OperatorCalls, type WaitingPage } from '../api/approvals.ts'
import { failureText } from '../texts/refusal.ts'
import { text } from '../texts/texts.ts'
import { PageHeader } from '../ui/page-header.tsx'
import { usePageTitle } from '../ui/page-title.ts'
import { WaitingList } from './waiting-list.tsx'

/** The page of the operator: which events wait, with what one needs to see before an answer. */
export function ApprovePage() {
  usePageTitle(text('approve.title'))
  const opened = useSignal<{ readonly calls: OperatorCalls; readonly first: WaitingPage } | undefined>(
    undefined,
  )
  return (
    <div class="approve-page">
      <PageHeader />
      <main>
        <h1>{text('approve.title')}</h1>
        {opened.value ? (
          <WaitingList {...opened.value} />
        ) : (
          <KeyForm
            onOpen={(calls, first) => {
              opened.value = { calls, first }
            }}
          />
        )}
      </main>
    </div>
  )
}

/** The key stays in the memory of this page. */
function KeyForm({ onOpen }: { onOpen(calls: OperatorCalls, first: WaitingPage): void }) {
  const key = useSignal('')
  const isBusy = useSignal(false)
  const fault = useSignal('')
  const open = async () => {
    if (isBusy.peek()) return
    const calls = new OperatorCalls(key.value.trim())
    isBusy.value = true
    fault.value = ''
    try {
      onOpen(calls, await calls.waiting(0))
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
        void open()
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
        {text('approve.open')}
      </button>
    </form>
  )
}
