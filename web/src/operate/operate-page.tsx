import './operate.css'
import { useSignal } from '@preact/signals'
import { OperatorCalls } from '../api/approvals.ts'
import { text } from '../texts/texts.ts'
import { OperatorKeyForm } from '../ui/operator-key-form.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { usePageTitle } from '../ui/page-title.ts'
import { type OperatedParts, PartList } from './part-list.tsx'

/** The page of the operator: how each part of the server is, and what to do about it. */
export function OperatePage() {
  usePageTitle(text('operate.title'))
  const opened = useSignal<{ readonly calls: OperatorCalls; readonly first: OperatedParts } | undefined>(
    undefined,
  )
  return (
    <div class="operate-page">
      <PageHeader />
      <main>
        <h1>{text('operate.title')}</h1>
        {opened.value ? (
          <PartList {...opened.value} />
        ) : (
          <OperatorKeyForm
            action={text('operate.open')}
            open={async (key) => {
              const calls = new OperatorCalls(key)
              opened.value = { calls, first: await calls.parts() }
            }}
          />
        )}
      </main>
    </div>
  )
}
