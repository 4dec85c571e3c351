import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import type { Answer } from '../live/use-answer.ts'
import { Failure } from '../ui/notice.tsx'
import { Skeleton } from './skeleton.tsx'

export interface AssetSectionProps<Data> {
  readonly title: string
  readonly answer: Answer<Data>
  readonly children: (data: Data) => ComponentChildren
}

/** A section of the panel with a request of its own: when it fails, the other sections stay. */
export function AssetSection<Data>({ title, answer, children }: AssetSectionProps<Data>) {
  const titleId = useId()
  const { data, error, isAsking, retry } = answer
  return (
    <section class="asset-section" aria-labelledby={titleId} aria-busy={isAsking}>
      <h3 id={titleId}>{title}</h3>
      {error !== undefined && <Failure error={error} onRetry={retry} />}
      {data !== undefined ? children(data) : error === undefined && <Skeleton lines={2} />}
    </section>
  )
}
