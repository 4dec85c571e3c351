import { text } from '../texts/texts.ts'

/** Longer descriptions are collapsed. */
const SHORT_CHARACTERS = 280

/** What the owner wrote about it, as plain text. */
export function Description({ value = '' }: { readonly value: string | undefined }) {
  if (value.trim() === '') return null
  const words = (
    <p class="asset-description" dir="auto">
      {value}
    </p>
  )
  if (value.length <= SHORT_CHARACTERS) return words
  return (
    <details>
      <summary>{text('asset.description')}</summary>
      {words}
    </details>
  )
}
