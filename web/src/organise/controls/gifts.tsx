import { attendance, type EventApproval, type GivenList, LandpassError, type Report } from '@landpass/client'
import { useSignal } from '@preact/signals'
import { formatNumber } from '../../texts/format.ts'
import { text } from '../../texts/texts.ts'
import { ActionFault } from './action-fault.tsx'
import { sendForEvent, withReport } from './controls-session.ts'
import { useAction } from './use-action.ts'

/** The server takes no more in one list. */
const MAX_ADDRESSES = 5_000

interface GiftsProps {
  readonly gifts: NonNullable<Report['gifts']>
  /** Tokens that are left. */
  readonly available: number
  readonly approval: EventApproval | null
  readonly isCancelled: boolean
}

/** Tokens that the organiser gives to a list of addresses, of an event that was made here. */
export function Gifts({ gifts: { allowed, waiting, given }, available, approval, isCancelled }: GiftsProps) {
  return (
    <section class="card" data-part="gifts">
      <h2>{text('controls.gifts.heading')}</h2>
      <p>{text('controls.gifts.explained')}</p>
      {given + waiting > 0 && (
        <dl class="facts">
          <dt>{text('controls.gifts.given')}</dt>
          <dd>{formatNumber(given)}</dd>
          <dt>{text('controls.gifts.waiting')}</dt>
          <dd>{formatNumber(waiting)}</dd>
        </dl>
      )}
      {waiting > 0 && available === 0 && <p>{text('controls.gifts.short')}</p>}
      {allowed ? <ListForm /> : <p>{text(whyNot(approval, isCancelled))}</p>}
    </section>
  )
}

function whyNot(approval: EventApproval | null, isCancelled: boolean) {
  if (approval?.state === 'waiting') return 'controls.gifts.not_approved'
  if (approval?.state === 'refused') return 'organise.next.event_refused'
  return isCancelled ? 'controls.gifts.cancelled' : 'error.gifts_not_allowed'
}

function ListForm() {
  const action = useAction()
  const list = useSignal('')
  const isEmpty = useSignal(false)
  const taken = useSignal<GivenList | undefined>(undefined)
  const write = (written: string) => {
    list.value = written
    isEmpty.value = false
    action.fault.value = undefined
  }
  const give = async () => {
    isEmpty.value = list.value.trim() === ''
    if (isEmpty.value) return
    taken.value = undefined
    taken.value = await withReport(() =>
      sendForEvent((id, credentials) => attendance.giveTokens(id, credentials, list.value)),
    )
    list.value = ''
  }
  return (
    <form
      noValidate
      onSubmit={(submitted) => {
        submitted.preventDefault()
        void action.run(give)
      }}
    >
      <div class="field">
        <label for="gift-list">{text('controls.gifts.list')}</label>
        <p class="hint" id="gift-list-hint">
          {text('controls.gifts.list_hint', { count: MAX_ADDRESSES })}
        </p>
        <textarea
          id="gift-list"
          rows={4}
          spellcheck={false}
          autocomplete="off"
          value={list.value}
          aria-invalid={isEmpty.value || undefined}
          aria-describedby="gift-list-hint gift-list-wrong gifts-fault"
          onInput={({ currentTarget }) => write(currentTarget.value)}
        />
        <p class="fault" id="gift-list-wrong" role="alert">
          {isEmpty.value && text('controls.gifts.empty')}
        </p>
      </div>
      <div class="field">
        <label for="gift-file">{text('controls.gifts.file')}</label>
        <input
          id="gift-file"
          type="file"
          accept=".txt,.csv,text/plain,text/csv"
          onChange={({ currentTarget }) => {
            const [file] = currentTarget.files ?? []
            currentTarget.value = '' // so that the same file can be chosen again
            if (file) void file.text().then(write)
          }}
        />
      </div>
      <button type="submit" aria-disabled={action.isBusy.value} aria-describedby="gifts-fault">
        {text('controls.gifts.give')}
      </button>
      <ActionFault id="gifts-fault" action={action} wordsOf={wordsOfRefusal} />
      <p role="status">
        {taken.value &&
          text('controls.gifts.taken', { accepted: taken.value.accepted, had: taken.value.had.length })}
      </p>
      {taken.value && taken.value.had.length > 0 && (
        <details>
          <summary>{text('controls.gifts.had')}</summary>
          <ul class="blocked">
            {taken.value.had.map((address) => (
              <li key={address}>
                <code>{address}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
    </form>
  )
}

function wordsOfRefusal(fault: unknown): string | undefined {
  if (!(fault instanceof LandpassError)) return undefined
  const { line, fault: kind, needed, free } = fault.data
  if (fault.code === 'body_too_large') return text('controls.gifts.too_long')
  if (fault.code === 'no_codes_loaded') return text('controls.gifts.not_approved')
  if (fault.code === 'event_refused') return text('organise.next.event_refused')
  if (fault.code === 'event_cancelled') return text('controls.gifts.cancelled')
  if (typeof needed === 'number' && typeof free === 'number')
    return text('controls.gifts.too_few', { needed, free })
  if (fault.code !== 'invalid_parameter') return undefined
  if (typeof line !== 'number') return text('controls.gifts.too_long')
  switch (kind) {
    case 'several':
      return text('controls.gifts.line.several', { line })
    case 'zero':
      return text('controls.gifts.line.zero', { line })
    case 'blocked':
      return text('controls.gifts.line.blocked', { line })
    case 'too_many':
      return text('controls.gifts.line.too_many', { line })
    default:
      return text('controls.gifts.line.no_address', { line })
  }
}
