import type { ComponentChildren } from 'preact'
import { text } from '../texts/texts.ts'

/** This many items are shown before the list is expanded. */
const FEW = 3

export interface FoldedProps<Item> {
  readonly items: readonly Item[]
  /** Text for an empty list. */
  readonly none: string
  readonly children: (item: Item) => ComponentChildren
}

/** A list that shows its first items, and the rest after a press. */
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
