import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { OperatorCalls, WaitingEvent } from '../api/approvals.ts'
import { placesImageAddress } from '../api/places-image.ts'
import { isolated, withoutTurns } from '../texts/bidi.ts'
import { formatDays, formatNumber } from '../texts/format.ts'
import { failureText } from '../texts/refusal.ts'
import { locale, text } from '../texts/texts.ts'
import { readNumber } from '../texts/typed-number.ts'
import { theme } from '../theme.ts'
import { ChangedFields } from '../ui/event-change.tsx'
import { isServed } from '../ui/interfaces.ts'

const MAP = { width: 480, height: 240, size: 12 }

interface WaitingCardProps {
  readonly calls: OperatorCalls
  readonly waiting: WaitingEvent
  onAnswered(answer: 'approved' | 'refused'): void
}

/** An event that waits, or the change of one, with the answers to it. */
export function WaitingCard({ calls, waiting, onAnswered }: WaitingCardProps) {
  const { event, tokens, approval } = waiting
  const { state, change } = approval
  const wanted = change?.tokens ?? tokens
  const heading =
    state === 'waiting' ? 'approve.new' : state === 'approved' ? 'approve.changed' : 'approve.corrected'
  return (
    <section class="card waiting">
      <p class="hint">{text(heading)}</p>
      <h3 dir="auto">{withoutTurns(event.name)}</h3>
      <div class="pictures">
        <Picture calls={calls} event={event} ofChange={false} />
        {change?.image && <Picture calls={calls} event={event} ofChange />}
        <PlacesImage coordinates={change?.coordinates ?? event.coordinates} name={event.name} />
      </div>
      {change && <h4>{text('approve.now')}</h4>}
      <Facts waiting={waiting} />
      {change && (
        <>
          <h4>{text('approve.change')}</h4>
          <ChangedFields change={change} />
        </>
      )}
      <Answer calls={calls} waiting={waiting} wanted={wanted} onAnswered={onAnswered} />
    </section>
  )
}

function Facts({ waiting: { event, tokens } }: { readonly waiting: WaitingEvent }) {
  const { event_start_date: first, event_end_date: last } = event
  const live = { coordinates: event.coordinates, tokens, description: event.description }
  return (
    <>
      {first && <p>{formatDays(Date.parse(first), Date.parse(last ?? first))}</p>}
      <ChangedFields change={live} />
      {event.event_url !== '' && (
        <p class="lines">
          <a href={event.event_url} rel="noreferrer noopener" target="_blank">
            {event.event_url}
          </a>
        </p>
      )}
    </>
  )
}

/** Read with the operator's key, which an address of an image cannot have. */
interface PictureProps extends Pick<WaitingCardProps, 'calls'>, Pick<WaitingEvent, 'event'> {
  /** The one of the change that waits. */
  readonly ofChange: boolean
}

function Picture({ calls, event, ofChange }: PictureProps) {
  const address = useSignal<string | undefined>(undefined)
  const fault = useSignal('')
  useEffect(() => {
    const aborting = new AbortController()
    let made: string | undefined
    calls.picture(event.uuid, ofChange, aborting.signal).then(
      (png) => {
        if (aborting.signal.aborted) return
        made = URL.createObjectURL(png)
        address.value = made
      },
      (error) => {
        if (!aborting.signal.aborted) fault.value = failureText(error)
      },
    )
    return () => {
      aborting.abort()
      if (made !== undefined) URL.revokeObjectURL(made)
    }
  }, [event.uuid])
  if (fault.value !== '') return <p class="fault">{fault.value}</p>
  const alt = text(ofChange ? 'approve.new_picture' : 'token.picture', { name: isolated(event.name) })
  return address.value === undefined ? (
    <div class="picture" />
  ) : (
    <img class="picture" src={address.value} alt={alt} width="240" height="240" />
  )
}

function PlacesImage({ coordinates, name }: { readonly coordinates: string; readonly name: string }) {
  if (!isServed('land')) return null
  return (
    <img
      class="map"
      src={placesImageAddress(coordinates, { ...MAP, theme: theme.value })}
      alt={text('approve.map', { name: isolated(name) })}
      width={MAP.width}
      height={MAP.height}
    />
  )
}

function Answer({ calls, waiting, wanted, onAnswered }: WaitingCardProps & { readonly wanted: number }) {
  const { event, content } = waiting
  const reason = useSignal('')
  const tokens = useSignal(String(wanted))
  const mayGive = useSignal(waiting.may_give)
  const isBusy = useSignal(false)
  const fault = useSignal('')
  const id = `answer-${event.id}`
  const send = async (approval: 'approved' | 'refused') => {
    if (isBusy.peek()) return
    const allowed = Number(readNumber(tokens.value, locale.peek()))
    fault.value = ''
    if (approval === 'approved' && !(Number.isSafeInteger(allowed) && allowed >= 1 && allowed <= wanted)) {
      fault.value = text('approve.tokens_fault', { count: formatNumber(wanted) })
      return
    }
    isBusy.value = true
    try {
      await calls.answer(event.uuid, {
        ...{ approval, content, reason: reason.value },
        ...(approval === 'approved' && { may_give: mayGive.value }),
        ...(approval === 'approved' && allowed < wanted && { tokens: allowed }),
      })
      onAnswered(approval)
    } catch (error) {
      fault.value = failureText(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <>
      <div class="field">
        <label for={`${id}-reason`}>{text('approve.reason')}</label>
        <p class="hint" id={`${id}-reason-hint`}>
          {text('approve.reason_hint')}
        </p>
        <textarea
          id={`${id}-reason`}
          rows={2}
          maxLength={500}
          dir="auto"
          value={reason.value}
          aria-describedby={`${id}-reason-hint`}
          onInput={({ currentTarget }) => {
            reason.value = currentTarget.value
          }}
        />
      </div>
      <div class="field">
        <label for={`${id}-tokens`}>{text('approve.tokens')}</label>
        <input
          id={`${id}-tokens`}
          class="short"
          inputMode="numeric"
          autocomplete="off"
          value={tokens.value}
          aria-describedby={`${id}-fault`}
          onInput={({ currentTarget }) => {
            tokens.value = currentTarget.value.trim()
            fault.value = ''
          }}
        />
      </div>
      <label class="rule">
        <input
          type="checkbox"
          checked={mayGive.value}
          onChange={({ currentTarget }) => {
            mayGive.value = currentTarget.checked
          }}
        />
        {text('approve.may_give')}
      </label>
      <p class="fault" id={`${id}-fault`} role="alert">
        {fault.value}
      </p>
      <div class="row">
        <button
          type="button"
          class="primary"
          aria-disabled={isBusy.value}
          aria-label={text('approve.approve_named', { name: isolated(event.name) })}
          onClick={() => void send('approved')}
        >
          {text('approve.approve')}
        </button>
        <button
          type="button"
          aria-disabled={isBusy.value}
          aria-label={text('approve.refuse_named', { name: isolated(event.name) })}
          onClick={() => void send('refused')}
        >
          {text('approve.refuse')}
        </button>
      </div>
    </>
  )
}
