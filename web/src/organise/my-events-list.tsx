import { useRef } from 'preact/hooks'
import { isolated, withoutTurns } from '../texts/bidi.ts'
import { formatDate } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { forgetMyEvent, type MyEvent, myEvents } from './my-events.ts'
import { showEvent } from './shown-event.ts'

/** The events of this browser, each with its page. Nothing is shown where there are none. */
export function MyEventsList() {
  const heading = useRef<HTMLHeadingElement>(null)
  const events = myEvents.value
  if (events.length === 0) return null
  return (
    <section class="card my-events">
      <h2 ref={heading} tabIndex={-1}>
        {text('organise.mine.heading')}
      </h2>
      <p class="hint">{text('organise.mine.explained')}</p>
      <ul>
        {events.map((event) => (
          <Line
            key={event.uuid}
            event={event}
            onRemove={() => {
              forgetMyEvent(event.uuid)
              heading.current?.focus()
            }}
          />
        ))}
      </ul>
    </section>
  )
}

interface LineProps {
  readonly event: MyEvent
  onRemove(): void
}

function Line({ event: { uuid, name, way, seen }, onRemove }: LineProps) {
  return (
    <li class="row my-event">
      <span>
        <a
          href={`/organise?event=${uuid}`}
          onClick={(click) => {
            if (click.ctrlKey || click.metaKey || click.shiftKey) return
            click.preventDefault()
            showEvent(uuid)
          }}
        >
          <bdi>{withoutTurns(name)}</bdi>
        </a>
        <span class="hint">{text(`organise.mine.${way}`, { day: formatDate(seen) })}</span>
      </span>
      <button
        type="button"
        class="quiet"
        aria-label={text('organise.mine.remove_named', { name: isolated(name) })}
        onClick={onRemove}
      >
        {text('organise.mine.remove')}
      </button>
    </li>
  )
}
