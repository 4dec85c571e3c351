import type { Call } from '@landpass/client'
import { csvText } from '@landpass/client/csv'
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { client } from '../api/client.ts'
import type { AddressListName } from '../state/explore-state.ts'
import { text } from '../texts/texts.ts'
import { Failure } from '../ui/notice.tsx'
import { saveFile } from '../ui/save-file.ts'
import { CSV_FIELDS, csvRow } from './csv-fields.ts'
import { csvFileName } from './csv-file.ts'

export interface CsvDownloadProps {
  readonly name: AddressListName
  readonly address: string
  /** Answers the list. */
  readonly call: Call<readonly unknown[]>
}

type Step =
  | { readonly name: 'idle' | 'reading' }
  | { readonly name: 'done'; readonly count: number }
  | { readonly name: 'failed'; readonly error: unknown }

/** A button that downloads a whole list of an address as a CSV file, and its outcome. */
export function CsvDownload({ name, address, call }: CsvDownloadProps) {
  const step = useSignal<Step>({ name: 'idle' })
  const reading = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => reading.current?.abort(), [])
  const isReading = step.value.name === 'reading'
  const start = async () => {
    if (isReading) return
    const round = new AbortController()
    const { signal } = round
    reading.current = round
    step.value = { name: 'reading' }
    try {
      // Numbers keep all their digits.
      const { data: rows } = await client.exactAnswer(call, { signal })
      const fields = CSV_FIELDS[name]
      const table = csvText(
        fields,
        rows.map((row) => csvRow(fields, row)),
      )
      saveFile(csvFileName({ name, address }, Date.now()), table, 'text/csv')
      step.value = { name: 'done', count: rows.length }
    } catch (error) {
      if (!signal.aborted) step.value = { name: 'failed', error }
    }
  }
  return (
    <div class="csv">
      <button type="button" aria-disabled={isReading} onClick={() => void start()}>
        {text('list.download_csv')}
      </button>
      <div role="status">
        {isReading && <p class="hint">{text('list.loading')}</p>}
        {step.value.name === 'done' && (
          <p class="hint">{text('list.csv.done', { count: step.value.count })}</p>
        )}
      </div>
      {step.value.name === 'failed' && <Failure error={step.value.error} />}
    </div>
  )
}
