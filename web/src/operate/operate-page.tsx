import './operate.css'
import { OperatorCalls } from '../api/approvals.ts'
import { text } from '../texts/texts.ts'
import { OperatorPage } from '../ui/operator-page.tsx'
import { PartList } from './part-list.tsx'

/** The page of the operator: how each part of the server is, and what to do about it. */
export function OperatePage() {
  return (
    <OperatorPage
      title={text('operate.title')}
      action={text('operate.open')}
      open={async (key) => {
        const calls = new OperatorCalls(key)
        return { calls, first: await calls.parts() }
      }}
      show={(opened) => <PartList {...opened} />}
    />
  )
}
