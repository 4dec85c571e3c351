import { attendance } from '@landpass/client'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { BlockedPlayer } from '../../api/evening.ts'
import { formatDateTime } from '../../texts/format.ts'
import { text } from '../../texts/texts.ts'
import { ActionFault } from './action-fault.tsx'
import { sendForEvent, withReport } from './evening-session.ts'
import { TextField } from './text-field.tsx'
import { useAction } from './use-action.ts'

const ADDRESS = /^0x[0-9a-f]{40}$/i

/** Players who get no token of this event. The list is asked for when it is opened. */
export function BlockList({ blocked }: { readonly blocked: number }) {
  const isOpened = useSignal(false)
  return (
    <section class="card">
      <h2>{text('evening.blocked.heading')}</h2>
      <p>{text('evening.blocked.explained')}</p>
      <details
        onToggle={({ currentTarget }) => {
          isOpened.value = currentTarget.open
        }}
      >
        <summary>{text('evening.blocked.count', { count: blocked })}</summary>
        {isOpened.value && <List />}
      </details>
    </section>
  )
}

function List() {
  const players = useSignal<readonly BlockedPlayer[] | undefined>(undefined)
  const action = useAction()
  const typed = useSignal('')
  const isWrong = useSignal(false)
  const send = async (change: { add?: string[]; remove?: string[] } = {}) => {
    const answer = await sendForEvent((id, credentials) => attendance.changeBlocked(id, credentials, change))
    players.value = answer.blocked
  }
  useEffect(() => void action.run(send), [])
  const add = async () => {
    const address = typed.value.trim()
    isWrong.value = !ADDRESS.test(address)
    if (isWrong.value) return
    await withReport(() => send({ add: [address] }))
    typed.value = ''
  }
  return (
    <form
      noValidate
      onSubmit={(submitted) => {
        submitted.preventDefault()
        void action.run(add)
      }}
    >
      <TextField
        id="blocked-address"
        label={text('evening.blocked.address')}
        typed={typed}
        isWrong={isWrong}
        wrongWords={text('evening.blocked.wrong')}
        faultId="blocked-fault"
        maxLength={60}
      />
      <button type="submit" aria-disabled={action.isBusy.value}>
        {text('evening.blocked.add')}
      </button>
      <ActionFault id="blocked-fault" action={action} />
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
              aria-label={text('evening.blocked.remove_address', { address })}
              onClick={() => void action.run(() => withReport(() => send({ remove: [address] })))}
            >
              {text('evening.blocked.remove')}
            </button>
          </li>
        ))}
      </ul>
    </form>
  )
}
