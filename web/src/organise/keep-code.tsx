import { text } from '../texts/texts.ts'

export interface KeepCodeProps {
  readonly isKept: boolean
  readonly onChange: (isKept: boolean) => void
}

/** Whether the browser stores the edit code on this device. */
export function KeepCode({ isKept, onChange }: KeepCodeProps) {
  return (
    <>
      <label class="rule">
        <input
          type="checkbox"
          id="keep-code"
          checked={isKept}
          aria-describedby="keep-code-hint"
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        />
        {text('organise.code.keep')}
      </label>
      <p class="hint" id="keep-code-hint">
        {text('organise.code.keep_hint')}
      </p>
    </>
  )
}
