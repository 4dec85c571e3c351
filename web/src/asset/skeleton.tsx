import { text } from '../texts/texts.ts'

/** The place of what is not there yet, so that nothing jumps when it comes. */
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
