import { useId } from 'preact/hooks'
import { CopyButton } from './copy-button.tsx'

export interface CopyFieldProps {
  readonly label: string
  readonly value: string
  readonly hint?: string
}

/** A text to select, with a button that copies it. */
export function CopyField({ label, value, hint }: CopyFieldProps) {
  const id = useId()
  return (
    <div class="copy-field">
      <label for={id}>{label}</label>
      {hint && <p class="hint">{hint}</p>}
      <div class="copy-line">
        <input
          id={id}
          readOnly
          value={value}
          spellcheck={false}
          onFocus={({ currentTarget }) => currentTarget.select()}
        />
        <CopyButton value={value} label={label} />
      </div>
    </div>
  )
}
