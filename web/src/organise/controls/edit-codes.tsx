import { attendance, type EditCodes as Codes, LandpassError } from '@landpass/client'
import { useSignal } from '@preact/signals'
import { withoutTurns } from '../../texts/bidi.ts'
import { formatDateTime } from '../../texts/format.ts'
import { text } from '../../texts/texts.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { sendForEvent } from './controls-session.ts'
import { FieldForm } from './field-form.tsx'
import { useAction, useFirstRead } from './use-action.ts'

/** As on the server. */
const MAX_CODES = 5
const MAX_NAME_LENGTH = 60

/** Edit codes for co-organisers of an event that was made here. */
export function EditCodes() {
  const made = useSignal<{ readonly name: string; readonly code: string } | undefined>(undefined)
  const action = useAction()
  const codes = useFirstRead(action, async () => (await send()).codes)
  const show = (answer: Codes) => {
    codes.value = answer.codes
  }
  const make = async (name: string) => {
    made.value = undefined
    const answer = await send({ add: name })
    show(answer)
    made.value = { name, code: answer.edit_code ?? '' }
  }
  const revoke = async (name: string) => {
    // Refused where another page has revoked it: then the list is read anew
    show(await send({ revoke: name }).catch((fault) => (isOfName(fault) ? send() : Promise.reject(fault))))
    if (made.value?.name === name) made.value = undefined
  }
  const valid = codes.value?.filter(({ ended_at }) => ended_at === null) ?? []
  const named = valid.flatMap(({ name, made_at }) => (name === null ? [] : [{ name, made_at }]))
  const reissued = valid.find(({ name }) => name === null)
  return (
    <details class="card tool" data-part="codes">
      <summary>{text('controls.codes.heading')}</summary>
      <p>{text('controls.codes.explained', { count: MAX_CODES })}</p>
      {reissued && (
        <p>{text('controls.codes.reissued', { time: formatDateTime(Date.parse(reissued.made_at)) })}</p>
      )}
      {named.length > 0 && (
        <p class="hint">{text('controls.codes.revoke_hint', { grants: text('controls.grants.heading') })}</p>
      )}
      <ul class="places">
        {named.map(({ name, made_at }) => (
          <li class="row" key={name}>
            <span>
              <bdi>{withoutTurns(name)}</bdi>{' '}
              <span class="hint">
                {text('controls.codes.since', { time: formatDateTime(Date.parse(made_at)) })}
              </span>
            </span>
            <button
              type="button"
              class="quiet"
              aria-label={text('controls.codes.revoke_named', { name: withoutTurns(name) })}
              aria-disabled={action.isBusy.value}
              onClick={() => void action.run(() => revoke(name))}
            >
              {text('controls.codes.revoke')}
            </button>
          </li>
        ))}
      </ul>
      <FieldForm
        id="code-name"
        label={text('controls.codes.name')}
        wrongWords={text('controls.codes.wrong')}
        submit={text('controls.codes.make')}
        maxLength={MAX_NAME_LENGTH}
        action={action}
        read={(typed) => typed.trim() || undefined}
        send={make}
        wordsOf={wordsOfRefusal}
      >
        {made.value && (
          <>
            <p>{text('controls.codes.made', { name: withoutTurns(made.value.name) })}</p>
            <p class="row uuid">
              <code>{made.value.code}</code>
              <CopyButton value={made.value.code} label={text('organise.event.code')} />
            </p>
          </>
        )}
      </FieldForm>
    </details>
  )
}

function send(change: Parameters<typeof attendance.changeEditCodes>[2] = {}): Promise<Codes> {
  return sendForEvent((id, { editCode }) => attendance.changeEditCodes(id, editCode, change))
}

function wordsOfRefusal(fault: unknown): string | undefined {
  return isOfName(fault) ? text('controls.codes.wrong') : undefined
}

/** The server refuses names: it is the only thing that is sent. */
function isOfName(fault: unknown): boolean {
  return fault instanceof LandpassError && fault.code === 'invalid_parameter'
}
