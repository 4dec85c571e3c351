import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { mine } from '../state/explore-state.ts'
import { findTypedAddress } from '../state/typed-place.ts'
import { text } from '../texts/texts.ts'
import type { ListProps } from './list-props.ts'

/** Asks for the address whose lists are shown. */
export function AddressForm({ query, onChange }: ListProps) {
  const id = useId()
  const typed = useSignal(query.address ?? mine.value ?? '')
  const isFaulty = useSignal(false)
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const address = findTypedAddress(typed.value)
    isFaulty.value = address === undefined
    if (address) onChange({ ...query, address, page: 1 })
    else document.getElementById(id)?.focus()
  }
  return (
    <form class="lists-address" onSubmit={submit} noValidate>
      <label for={id}>{text('list.address')}</label>
      <div class="lists-address-line">
        <input
          id={id}
          value={typed.value}
          placeholder="0x…"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          aria-invalid={isFaulty.value}
          aria-describedby={isFaulty.value ? `${id}-fault` : undefined}
          onInput={({ currentTarget }) => {
            typed.value = currentTarget.value
            isFaulty.value = false
          }}
        />
        <button type="submit">{text('list.address.show')}</button>
      </div>
      {isFaulty.value && (
        <p class="fault" id={`${id}-fault`} role="alert">
          {text('list.address.fault')}
        </p>
      )}
    </form>
  )
}
