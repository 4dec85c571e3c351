import { LandpassError } from '@landpass/client'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect } from 'preact/hooks'
import type { Answer } from '../live/use-answer.ts'
import { selectionName } from '../state/explore-state.ts'
import { text } from '../texts/texts.ts'
import { Failure, Notice } from '../ui/notice.tsx'
import { Skeleton } from './skeleton.tsx'

export interface AssetFrameProps<Data> {
  /** What it is: a road, a parcel, an estate of some size. */
  readonly kind: string
  /** Its name, or its place where it has none. */
  readonly title: string
  readonly answer: Answer<Data>
  /** Text for an asset that does not exist. */
  readonly missing: string
  readonly children: (data: Data) => ComponentChildren
  onClose(): void
}

/** What the panels of parcels and estates have in common: title, close button, loading state and failures. */
export function AssetFrame<Data>({ kind, title, answer, missing, children, onClose }: AssetFrameProps<Data>) {
  useLayoutEffect(() => {
    selectionName.value = title
    return () => {
      selectionName.value = undefined
    }
  }, [title])
  return (
    <div class="asset-panel" aria-busy={answer.isAsking}>
      <header class="panel-header">
        <div>
          <p class="asset-kind">{kind}</p>
          <h2 dir="auto">{title}</h2>
        </div>
        <button type="button" class="quiet panel-close" aria-label={text('common.close')} onClick={onClose}>
          <span aria-hidden="true">×</span>
        </button>
      </header>
      <AnswerBody answer={answer} missing={missing}>
        {children}
      </AnswerBody>
    </div>
  )
}

type AnswerBodyProps<Data> = Pick<AssetFrameProps<Data>, 'answer' | 'missing' | 'children'>

function AnswerBody<Data>({ answer: { data, error, retry }, missing, children }: AnswerBodyProps<Data>) {
  if (isMissing(error)) {
    return (
      <Notice kind="info">
        <p>{missing}</p>
      </Notice>
    )
  }
  return (
    <>
      {error !== undefined && <Failure error={error} onRetry={retry} />}
      {data !== undefined ? children(data) : error === undefined && <Skeleton lines={6} />}
    </>
  )
}

/** For a place outside of the world the server answers 400, for an unknown id 404: both are shown as missing. */
function isMissing(error: unknown): boolean {
  return error instanceof LandpassError && (error.status === 404 || error.code === 'invalid_parameter')
}
