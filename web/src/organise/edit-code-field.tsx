import { useSignal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { text } from '../texts/texts.ts'
import { AccountField } from './account-field.tsx'
import { filledEditCodes, heldEditCode, isEditCodeHeld, MAX_EDIT_CODE_LENGTH } from './edit-code.ts'
import { typeEditCode } from './event-state.ts'
import { Field, type FieldParts } from './field.tsx'

/**
 * Codes of events that were made here are passwords, which password managers may keep. The codes of the issuer outside, mostly
 * six digits, a browser must neither store nor suggest: password managers offer to save fields that ever had the type
 * `password`, whatever `autocomplete` says, so the text is hidden by CSS. `autocomplete="off"` also keeps it out of saved
 * browser sessions. In neither case has the field a name, a value attribute or a spell check.
 *
 * @param isOwn the code is one of this server, of an event that was made here
 * @param account of an event that was made here: the name under which a password manager keeps the code
 */
export function EditCodeField({ isOwn, account }: { readonly isOwn: boolean; readonly account?: string }) {
  return (
    <Field<HTMLInputElement>
      id="edit-code"
      place="edit_code"
      label={text('organise.event.code')}
      hint={text(isOwn ? 'organise.event.code_hint_here' : 'organise.event.code_hint')}
    >
      {(parts) => (
        <>
          {isOwn && account !== undefined && <AccountField name={account} />}
          <EditCodeInput parts={parts} isOwn={isOwn} />
        </>
      )}
    </Field>
  )
}

/** Attributes that password manager extensions honour. */
const NOT_FOR_PASSWORD_MANAGERS = {
  'data-1p-ignore': '',
  'data-bwignore': '',
  'data-lpignore': 'true',
  'data-form-type': 'other',
}
const CAN_HIDE_TEXT = CSS.supports('-webkit-text-security', 'disc')

interface EditCodeInputProps {
  readonly parts: FieldParts<HTMLInputElement>
  readonly isOwn: boolean
}

function EditCodeInput({ parts, isOwn }: EditCodeInputProps) {
  const isShown = useSignal(false)
  const input = parts.ref
  useLayoutEffect(() => {
    // The value is set only here, so it never becomes part of the rendered HTML.
    if (input.current) input.current.value = heldEditCode()
  }, [filledEditCodes.value])
  const isHeld = isEditCodeHeld.value
  useLayoutEffect(() => {
    if (!isHeld && input.current) input.current.value = ''
  }, [isHeld])
  return (
    <div class="row secret">
      <input
        {...parts}
        class={isShown.value || isOwn ? 'short' : 'short hidden-text'}
        {...(isShown.value || (CAN_HIDE_TEXT && !isOwn)
          ? ({ type: 'text' } as const)
          : ({ type: 'password' } as const))}
        aria-label={text('organise.event.code_secret')}
        autocomplete={isOwn ? 'current-password' : 'off'}
        autocapitalize="none"
        autocorrect="off"
        spellcheck={false}
        {...(isOwn ? {} : NOT_FOR_PASSWORD_MANAGERS)}
        maxLength={MAX_EDIT_CODE_LENGTH}
        onInput={({ currentTarget }) => typeEditCode(currentTarget.value)}
      />
      <button
        type="button"
        class="quiet"
        aria-pressed={isShown.value}
        aria-controls={parts.id}
        onClick={() => {
          isShown.value = !isShown.value
        }}
      >
        {text('organise.event.show_code')}
      </button>
    </div>
  )
}
