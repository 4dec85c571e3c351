import { attendance } from '@landpass/client'
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { BlockedPlayer } from '../../api/controls.ts'
import { formatDateTime } from '../../texts/format.ts'
import { text } from '../../texts/texts.ts'
import { plainText } from '../pasted-text.ts'
import { sendForEvent, withReport } from './controls-session.ts'
import { FieldForm } from './field-form.tsx'
import { useAction } from './use-action.ts'

const ADDRESS = /^0x[0-9a-f]{40}$/i
/** Room for blanks between the characters. */
const MAX_PASTED_LENGTH = 100

/** Players who get no token of this event. The list is asked for when it is opened. */
export function BlockList({ blocked }: { readonly blocked: number }) {
  const isOpened = useSignal(false)
  const summary = useRef<HTMLElement>(null)
  return (
    <section class="card">
      <h2>{text('controls.blocked.heading')}</h2>
      <p>{text('controls.blocked.explained')}</p>
      <details
        onToggle={({ currentTarget }) => {
          isOpened.value = currentTarget.open
        }}
      >
        <summary ref={summary}>{text('controls.blocked.count', { count: blocked })}</summary>
        {isOpened.value && <List onUnblocked={() => summary.current?.focus()} />}
      </details>
    </section>
  )
}

/** @param onUnblocked called when the pressed button is gone */
function List({ onUnblocked }: { onUnblocked(): void }) {
  const players = useSignal<readonly BlockedPlayer[] | undefined>(undefined)
  const action = useAction()
  const said = useSignal('')
  const send = async (change: { add?: string[]; remove?: string[] } = {}) => {
    const answer = await sendForEvent((id, credentials) => attendance.changeBlocked(id, credentials, change))
    players.value = answer.blocked
  }
  useEffect(() => void action.run(send), [])
  const add = async (address: string) => {
    said.value = ''
    await withReport(() => send({ add: [address] }))
    said.value = text('controls.blocked.added', { address })
  }
  const remove = async (address: string) => {
    said.value = ''
    await withReport(() => send({ remove: [address] }))
    said.value = text('controls.blocked.removed', { address })
    onUnblocked()
  }
  return (
    <>
      <FieldForm
        id="blocked-address"
        label={text('controls.blocked.address')}
        wrongWords={text('controls.blocked.wrong')}
        submit={text('controls.blocked.add')}
        maxLength={MAX_PASTED_LENGTH}
        action={action}
        read={readAddress}
        send={add}
      >
        <p>{said.value}</p>
      </FieldForm>
      <ul class="blocked">
        {players.value?.map(({ address, since }) => (
          <li key={address}>
            <span>
              <code>{address}</code>
              <span class="hint">{formatDateTime(Date.parse(since))}</span>
            </span>
            <button
              type="button"
              aria-disabled={action.isBusy.value}
              aria-label={text('controls.blocked.remove_address', { address })}
              onClick={() => void action.run(() => remove(address))}
            >
              {text('controls.blocked.remove')}
            </button>
          </li>
        ))}
      </ul>
    </>
  )
}

function readAddress(typed: string): string | undefined {
  const address = plainText(typed).replace(/\s/g, '')
  return ADDRESS.test(address) ? address : undefined
}
