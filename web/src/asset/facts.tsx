import type { ComponentChildren } from 'preact'

/** Names and values, one pair a line. */
export function Facts({ children }: { readonly children: ComponentChildren }) {
  return <dl class="asset-facts">{children}</dl>
}

export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div class="asset-fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
