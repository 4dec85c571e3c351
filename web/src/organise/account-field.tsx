import { withoutTurns } from '../texts/bidi.ts'

/** The name under which a password manager keeps the edit code of an event. It is not shown: the page says which event it is. */
export function AccountField({ name }: { readonly name: string }) {
  return (
    <input
      type="text"
      class="visually-hidden"
      autocomplete="username"
      tabIndex={-1}
      aria-hidden="true"
      readOnly
      value={withoutTurns(name)}
    />
  )
}
