import type { ComponentChildren } from 'preact'
import { text } from '../texts/texts.ts'
import { isServed } from '../ui/interfaces.ts'
import { Field } from './field.tsx'
import { PlacesMap } from './places-map.tsx'
import { PlacesField } from './places-step.tsx'
import type { RefusalPlace } from './refusal-place.ts'

/** Fields that several forms of organisers have. */

/** As on the server. */
const MAX_DESCRIPTION_LENGTH = 2_000
const MAX_NAME_LENGTH = 100
const MAX_LINK_LENGTH = 300
/** Enough for a million with separators and blanks around it. */
const MAX_TOKENS_LENGTH = 20

/** What an input of one line differs in. */
interface LineKind {
  readonly class?: 'short'
  readonly type?: 'date' | 'time'
  readonly inputMode?: 'numeric' | 'url'
  readonly maxLength?: number
  readonly dir?: 'auto'
  readonly spellcheck?: boolean
}

interface LineFieldProps {
  readonly id: string
  readonly place: RefusalPlace
  readonly label: string
  readonly hint: ComponentChildren
  readonly value: string
  readonly earlyFault?: string | undefined
  readonly input?: LineKind
  onType(typed: string, input: HTMLInputElement): void
}

/** A field of one line. */
export function LineField(props: LineFieldProps) {
  const { id, place, label, hint, value, earlyFault, input, onType } = props
  return (
    <Field<HTMLInputElement> id={id} place={place} label={label} hint={hint} earlyFault={earlyFault}>
      {(parts) => (
        <input
          {...parts}
          autocomplete="off"
          {...input}
          value={value}
          onInput={({ currentTarget }) => onType(currentTarget.value, currentTarget)}
        />
      )}
    </Field>
  )
}

interface ValueProps {
  readonly value: string
  onType(typed: string): void
}

export function TokensField({ hint, ...value }: ValueProps & { readonly hint: string }) {
  return (
    <LineField
      id="tokens"
      place="tokens"
      label={text('organise.make.tokens')}
      hint={hint}
      input={{ class: 'short', inputMode: 'numeric', maxLength: MAX_TOKENS_LENGTH }}
      {...value}
    />
  )
}

/** It is signed with every token. */
export function NameField(value: ValueProps) {
  return (
    <LineField
      id="event-name"
      place="name"
      label={text('organise.make.name')}
      hint={text('organise.make.name_hint', { count: MAX_NAME_LENGTH })}
      input={{ dir: 'auto', maxLength: MAX_NAME_LENGTH }}
      {...value}
    />
  )
}

/** A page about the event. */
export function LinkField(value: ValueProps) {
  return (
    <LineField
      id="event-link"
      place="link"
      label={text('organise.make.link')}
      hint={text('organise.make.link_hint')}
      input={{ inputMode: 'url', maxLength: MAX_LINK_LENGTH, spellcheck: false }}
      {...value}
    />
  )
}

/** Holders see it on the page of their token. */
export function DescriptionField({ value, onType }: ValueProps) {
  return (
    <Field<HTMLTextAreaElement>
      id="event-description"
      place="description"
      label={text('organise.make.description')}
      hint={text('organise.make.description_hint')}
    >
      {(parts) => (
        <textarea
          {...parts}
          class="prose"
          rows={3}
          dir="auto"
          maxLength={MAX_DESCRIPTION_LENGTH}
          value={value}
          onInput={({ currentTarget }) => onType(currentTarget.value)}
        />
      )}
    </Field>
  )
}

/** The places, drawn or typed; a server of attendance alone has no map. */
export function PlacesFields() {
  return (
    <>
      {isServed('land') && <PlacesMap />}
      <PlacesField />
    </>
  )
}

interface RuleProps {
  readonly label: string
  readonly isOn: boolean
  onChange(isOn: boolean): void
}

/** A choice of yes or no. */
export function Rule({ label, isOn, onChange }: RuleProps) {
  return (
    <label class="rule">
      <input
        type="checkbox"
        checked={isOn}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      {label}
    </label>
  )
}
