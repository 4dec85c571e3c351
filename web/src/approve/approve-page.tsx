import './approve.css'
import { OperatorCalls } from '../api/approvals.ts'
import { text } from '../texts/texts.ts'
import { OperatorPage } from '../ui/operator-page.tsx'
import { WaitingList } from './waiting-list.tsx'

/** The page of the operator: which events wait, with what one needs to see before an answer. */
export function ApprovePage() {
  return (
    <OperatorPage
      title={text('approve.title')}
      action={text('approve.open')}
      open={async (key) => {
        const calls = new OperatorCalls(key)
        return { calls, first: await calls.waiting(0) }
      }}
      show={(opened) => <WaitingList {...opened} />}
    />
  )
}
