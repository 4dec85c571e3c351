import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Answer } from '../live/use-answer.ts'
import { type TextKey, text } from '../texts/texts.ts'
import { Failure, Loading } from '../ui/notice.tsx'
import { CsvDownload, type CsvDownloadProps } from './csv-download.tsx'
import { Pager } from './pager.tsx'

export interface ListFrameProps<Data> {
  readonly file: CsvDownloadProps
  readonly answer: Answer<Data>
  /** The page that is shown, counted from 1. */
  readonly page: number
  /** Text for an empty list. */
  readonly none: string
  /** Text for the number of rows, with the placeholder `{count}`. Default: results. */
  readonly counted?: TextKey
  totalOf(data: Data): number
  onTurn(page: number): void
  readonly children: (data: Data) => ComponentChildren
}

/** What all lists of an address have in common: number of rows, pages, CSV download, loading state and failures. */
export function ListFrame<Data>({
  file,
  answer,
  page,
  none,
  counted = 'list.total',
  totalOf,
  onTurn,
  children,
}: ListFrameProps<Data>) {
  const { data, error, retry } = answer
  const top = useRef<HTMLDivElement>(null)
  const shown = useRef(page)
  useLayoutEffect(() => {
    // Not scrollIntoView, which would also scroll the elements around the panel.
    if (shown.current !== page) top.current?.closest('.side-panel')?.scrollTo({ top: 0 })
    shown.current = page
  }, [page])
  const total = data === undefined ? 0 : totalOf(data)
  return (
    <div class="list" ref={top}>
      {error !== undefined && <Failure error={error} onRetry={retry} />}
      {data === undefined && error === undefined && <Loading label={text('list.loading')} />}
      {data !== undefined && total === 0 && <p class="list-none">{none}</p>}
      {data !== undefined && total > 0 && (
        <>
          {children(data)}
          <Pager page={page} total={total} counted={counted} onTurn={onTurn} />
          <CsvDownload {...file} />
        </>
      )}
    </div>
  )
}
