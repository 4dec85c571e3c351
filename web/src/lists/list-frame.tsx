import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Answer } from '../live/use-answer.ts'
import type { ListWish } from '../state/explore-state.ts'
import { type TextKey, text } from '../texts/texts.ts'
import { Failure, Loading } from '../ui/notice.tsx'
import { CsvDownload } from './csv-download.tsx'
import { Pager } from './pager.tsx'

export interface ListFrameProps<Data> {
  readonly wish: ListWish
  readonly answer: Answer<Data>
  /** The page that is shown, counted from 1. */
  readonly page: number
  /** Said where there is nothing. */
  readonly none: string
  /** What the rows are: a text with the placeholder `{count}`. Left out: results. */
  readonly counted?: TextKey
  totalOf(data: Data): number
  onTurn(page: number): void
  readonly children: (data: Data) => ComponentChildren
}

/** What all lists have in common: how much there is, pages, a file of it, and what to say where there are no rows. */
export function ListFrame<Data>({
  wish,
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
  useEffect(() => {
    // Not scrollIntoView, which would move whatever lies around the panel too.
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
          <CsvDownload wish={wish} />
        </>
      )}
    </div>
  )
}
