import { text } from '../texts/texts.ts'
import { Notice } from '../ui/notice.tsx'
import { usePageTitle } from '../ui/page-title.ts'
import { type EventWay, eventMakers, OFFERED_WAYS, whyClosed } from './event-ways.ts'
import { MyEventsList } from './my-events-list.tsx'
import { showForm } from './shown-event.ts'

/** The first question: an event that is made here, or one at POAP. */
export function WayChoice() {
  usePageTitle(text('organise.title'))
  return (
    <>
      <h1>{text('organise.title')}</h1>
      <p class="lead">{text('organise.way.intro')}</p>
      <MyEventsList />
      {OFFERED_WAYS.length === 0 ? (
        <NotConfigured />
      ) : (
        <>
          <h2>{text('organise.way.heading')}</h2>
          <div class="ways">
            {OFFERED_WAYS.map((way) => (
              <Way key={way} way={way} />
            ))}
          </div>
        </>
      )}
    </>
  )
}

/** In place of a form that every server without the settings would refuse. */
export function NotConfigured() {
  return (
    <Notice kind="warning">
      <p>{text('error.attendance_not_configured')}</p>
    </Notice>
  )
}

function Way({ way }: { readonly way: EventWay }) {
  const closed = whyClosed(way)
  return (
    <section class="card way">
      <h3>{text(`organise.way.${way}`)}</h3>
      <p>{text(closed ?? `organise.way.${way}_explained`)}</p>
      {way === 'here' && eventMakers() === 'approved' && <p>{text('organise.way.here_approved')}</p>}
      {!closed && (
        <button type="button" class={way === 'here' ? 'primary' : ''} onClick={() => showForm(way)}>
          {text(`organise.way.${way}`)}
        </button>
      )}
    </section>
  )
}

interface OtherWayProps {
  /** Whether nothing was done in the form yet. */
  readonly isBegin?: boolean
}

/** Back to the first question. Where there is only one way, the form begins with what stands beside that question. */
export function OtherWay({ isBegin = true }: OtherWayProps) {
  if (OFFERED_WAYS.length === 1) return isBegin ? <MyEventsList /> : null
  return (
    <p>
      <button type="button" class="quiet" onClick={() => showForm()}>
        {text('organise.way.other')}
      </button>
    </p>
  )
}
