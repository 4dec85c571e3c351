import './approve.css'
import { useSignal } from '@preact/signals'
import { OperatorCalls, type WaitingPage } from '../api/approvals.ts'
import { text } from '../texts/texts.ts'
import { OperatorKeyForm } from '../ui/operator-key-form.tsx'
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
          <OperatorKeyForm
            action={text('approve.open')}
            open={async (key) => {
              const calls = new OperatorCalls(key)
              opened.value = { calls, first: await calls.waiting(0) }
            }}
          />
        )}
      </main>
    </div>
  )
}
