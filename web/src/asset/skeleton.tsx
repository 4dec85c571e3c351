import { text } from '../texts/texts.ts'

/** A placeholder of the size of the content, so that the layout does not jump when it is loaded. */
export function Skeleton({ lines }: { readonly lines: number }) {
  return (
    <div class="skeleton">
      <span class="visually-hidden">{text('asset.loading')}</span>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} class="skeleton-line" aria-hidden="true" />
      ))}
    </div>
  )
}
