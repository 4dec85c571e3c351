import './operator-page.css'
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { OperatorKeyForm } from './operator-key-form.tsx'
import { PageHeader } from './page-header.tsx'
import { usePageTitle } from './page-title.ts'

interface OperatorPageProps<Opened> {
  readonly title: string
  /** What the button says that opens the page. */
  readonly action: string
  /** Reads what the page shows, with the operator's key. @throws what the server refuses */
  open(key: string): Promise<Opened>
  show(opened: Opened): ComponentChildren
}

/** A page that opens with the operator's key. */
export function OperatorPage<Opened>({ title, action, open, show }: OperatorPageProps<Opened>) {
  usePageTitle(title)
  const opened = useSignal<Opened | undefined>(undefined)
  return (
    <div class="operator-page">
      <PageHeader />
      <main>
        <h1>{title}</h1>
        {opened.value ? (
          show(opened.value)
        ) : (
          <OperatorKeyForm
            action={action}
            open={async (key) => {
              opened.value = await open(key)
            }}
          />
        )}
      </main>
    </div>
  )
}
