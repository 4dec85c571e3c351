import { useSignal } from '@preact/signals'
import type { OperatorCalls, WaitingEvent, WaitingPage } from '../api/approvals.ts'
import { isolated } from '../texts/bidi.ts'
import { formatNumber } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { useFirstFocus } from '../ui/focus.ts'
import { Failure } from '../ui/notice.tsx'
import { replaceFocus } from '../ui/replaced-focus.ts'
import { WaitingCard } from './waiting-card.tsx'

interface WaitingListProps {
  readonly calls: OperatorCalls
  readonly first: WaitingPage
}

/** The events that wait, the oldest first. An event leaves the list with its answer. */
export function WaitingList({ calls, first }: WaitingListProps) {
  const shown = useSignal(first)
  const said = useSignal('')
  const error = useSignal<unknown>(undefined)
  const heading = useFirstFocus<HTMLHeadingElement>()
  const read = async (after: number, before: readonly WaitingEvent[]) => {
    error.value = undefined
    try {
      const page = await calls.waiting(after)
      shown.value = { ...page, events: [...before, ...page.events] }
    } catch (failed) {
      error.value = failed
    }
  }
  const leave = ({ event }: WaitingEvent, answer: 'approved' | 'refused') => {
    const { total, next, events } = shown.value
    said.value = text(`approve.done.${answer}`, { name: isolated(event.name) })
    shown.value = { total: total - 1, next, events: events.filter((one) => one.event.id !== event.id) }
    queueMicrotask(() => replaceFocus(heading.current)) // the pressed button has disappeared then
  }
  const { total, next, events } = shown.value
  return (
    <>
      <h2 ref={heading} tabIndex={-1}>
        {total === 0 ? text('approve.none') : text('approve.count', { count: formatNumber(total) })}
      </h2>
      <p role="status">{said.value}</p>
      {events.map((waiting) => (
        <WaitingCard
          key={`${waiting.event.id} ${waiting.content}`}
          calls={calls}
          waiting={waiting}
          onAnswered={(answer) => leave(waiting, answer)}
        />
      ))}
      {error.value !== undefined && <Failure error={error.value} />}
      <p class="row">
        {next !== null && (
          <button type="button" onClick={() => void read(next, events)}>
            {text('approve.more')}
          </button>
        )}
        <button type="button" onClick={() => void read(0, [])}>
          {text('approve.again')}
        </button>
      </p>
    </>
  )
}
