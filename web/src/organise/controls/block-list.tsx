import { attendance } from '@landpass/client'
import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { formatDateTime } from '../../texts/format.ts'
import { text } from '../../texts/texts.ts'
import { replaceFocus } from '../../ui/replaced-focus.ts'
import { plainText } from '../pasted-text.ts'
import { sendForEvent, withReport } from './controls-session.ts'
import { FieldForm } from './field-form.tsx'
import { useAction, useFirstRead } from './use-action.ts'

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
        {isOpened.value && <List onUnblocked={() => replaceFocus(summary.current)} />}
      </details>
    </section>
  )
}

/** @param onUnblocked called when the pressed button is gone */
function List({ onUnblocked }: { onUnblocked(): void }) {
  const action = useAction()
  const players = useFirstRead(action, send)
  const said = useSignal('')
  const sendChange = (change: Change) => {
    said.value = ''
    return withReport(async () => {
      players.value = await send(change)
    })
  }
  const add = async (address: string) => {
    await sendChange({ add: [address] })
    said.value = text('controls.blocked.added', { address })
  }
  const remove = async (address: string) => {
    await sendChange({ remove: [address] })
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

type Change = Parameters<typeof attendance.changeBlocked>[2]

/** @returns the players who are blocked from now on */
async function send(change?: Change) {
  const { blocked } = await sendForEvent((id, credentials) =>
    attendance.changeBlocked(id, credentials, change),
  )
  return blocked
}

function readAddress(typed: string): string | undefined {
  const address = plainText(typed).replace(/\s/g, '')
  return ADDRESS.test(address) ? address : undefined
}
