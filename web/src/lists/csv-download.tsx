import type { Call } from '@landpass/client'
import { csvText } from '@landpass/client/csv'
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { client } from '../api/client.ts'
import type { ListQuery } from '../state/explore-state.ts'
import { text } from '../texts/texts.ts'
import { Failure, Notice } from '../ui/notice.tsx'
import { saveFile } from '../ui/save-file.ts'
import { CSV_FIELDS, csvRow } from './csv-fields.ts'
import { csvFileName } from './csv-file.ts'
import { type Progress, readWholeList, UnstableListError } from './whole-list.ts'

type Step =
  | { readonly name: 'idle' }
  | ({ readonly name: 'reading' | 'done' } & Progress)
  | { readonly name: 'failed'; readonly error: unknown }

/** A button that downloads the whole list as a CSV file, with its progress and outcome. */
export function CsvDownload({ query }: { readonly query: ListQuery }) {
  const step = useSignal<Step>({ name: 'idle' })
  const reading = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => reading.current?.abort(), [])

  const whole = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const isReading = step.value.name === 'reading'
  /** The pressed button disappears: the focus moves to the one that replaces it. */
  const takeFocus = () => {
    if (whole.current?.contains(document.activeElement)) button.current?.focus()
  }

  const start = () => {
    if (isReading) return
    const round = new AbortController()
    reading.current = round
    void makeFile(query, round.signal, (next) => {
      if (round.signal.aborted) return
      if (next.name !== 'reading') takeFocus()
      step.value = next
    })
  }
  const cancel = () => {
    reading.current?.abort()
    takeFocus()
    step.value = { name: 'idle' }
  }
  return (
    <div class="csv" ref={whole}>
      <button type="button" ref={button} aria-disabled={isReading} onClick={start}>
        {text('list.download_csv')}
      </button>
      {step.value.name === 'reading' && <Reading progress={step.value} onCancel={cancel} />}
      <div role="status">
        {step.value.name === 'done' && <p class="hint">{text('list.csv.done', counts(step.value))}</p>}
      </div>
      {step.value.name === 'failed' && <DownloadFailure error={step.value.error} />}
    </div>
  )
}

async function makeFile(query: ListQuery, signal: AbortSignal, tell: (step: Step) => void): Promise<void> {
  const ask = <Data,>(call: Call<Data>) => client.exactAnswer(call, { signal })
  let progress: Progress = { count: 0, total: 0 }
  tell({ name: 'reading', ...progress })
  try {
    const rows = await readWholeList(query, ask, (now) => {
      progress = now
      tell({ name: 'reading', ...now })
    })
    if (signal.aborted) return
    const fields = CSV_FIELDS[query.name]
    saveFile(
      csvFileName(query, Date.now()),
      csvText(
        fields,
        rows.map((row) => csvRow(fields, row)),
      ),
      'text/csv',
    )
    tell({ name: 'done', ...progress })
  } catch (error) {
    tell({ name: 'failed', error })
  }
}

function Reading({ progress, onCancel }: { readonly progress: Progress; onCancel(): void }) {
  const said = text('list.csv.reading', counts(progress))
  return (
    <div class="row">
      {/* Without a value until the first page says how much there is. */}
      <progress
        max={progress.total || undefined}
        value={progress.total ? progress.count : undefined}
        aria-label={said}
      />
      <span class="hint">{said}</span>
      <button type="button" onClick={onCancel}>
        {text('list.csv.cancel')}
      </button>
    </div>
  )
}

function DownloadFailure({ error }: { readonly error: unknown }) {
  if (!(error instanceof UnstableListError)) return <Failure error={error} />
  return (
    <Notice kind="error">
      <p>{text('list.csv.unstable')}</p>
    </Notice>
  )
}

function counts({ count, total }: Progress): Record<string, number> {
  return { count, total }
}
