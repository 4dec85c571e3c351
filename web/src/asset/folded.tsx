import type { ComponentChildren } from 'preact'
import { text } from '../texts/texts.ts'

/** So many are shown at once. */
const FEW = 3

export interface FoldedProps<Item> {
  readonly items: readonly Item[]
  /** Said where there are none. */
  readonly none: string
  readonly children: (item: Item) => ComponentChildren
}

/** A list of which the first few are shown, and the rest when the reader wants them. */
export function Folded<Item>({ items, none, children }: FoldedProps<Item>) {
  if (items.length === 0) return <p class="hint">{none}</p>
  const rest = items.slice(FEW)
  return (
    <>
      <ul class="deals">{items.slice(0, FEW).map(children)}</ul>
      {rest.length > 0 && (
        <details>
          <summary>{text('asset.more', { count: rest.length })}</summary>
          <ul class="deals">{rest.map(children)}</ul>
        </details>
      )}
    </>
  )
}
