import type { ComponentChildren } from 'preact'
import { text } from '../texts/texts.ts'
import { Facts } from './facts.tsx'

/** What few readers look for, folded. */
export function AssetDetails({ children }: { readonly children: ComponentChildren }) {
  return (
    <details class="asset-section">
      <summary>{text('asset.details')}</summary>
      <Facts>{children}</Facts>
    </details>
  )
}
