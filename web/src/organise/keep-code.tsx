import type { Signal } from '@preact/signals'
import { text } from '../texts/texts.ts'

/** Whether the browser stores the edit code on this device. */
export function KeepCode({ isKept }: { readonly isKept: Signal<boolean> }) {
  return (
    <>
      <label class="rule">
        <input
          type="checkbox"
          id="keep-code"
          checked={isKept.value}
          aria-describedby="keep-code-hint"
          onChange={({ currentTarget }) => {
            isKept.value = currentTarget.checked
          }}
        />
        {text('organise.code.keep')}
      </label>
      <p class="hint" id="keep-code-hint">
        {text('organise.code.keep_hint')}
      </p>
    </>
  )
}
