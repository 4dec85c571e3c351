import type { EventInfo } from '@landpass/client'
import { useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks'
import type { Availability } from '../api/attendance.ts'
import { withoutTurns } from '../texts/bidi.ts'
import { formatDateTimeThere, formatDays, formatTime } from '../texts/format.ts'
import { refusalText } from '../texts/refusal.ts'
import { text } from '../texts/texts.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { useFirstFocus } from '../ui/focus.ts'
import { Failure, Loading, Notice } from '../ui/notice.tsx'
import { usePageTitle } from '../ui/page-title.ts'
import { AccessForm, ControlsPart, useControls } from './controls/access-form.tsx'
import { controls } from './controls/controls-session.ts'
import { forgetEditCode } from './edit-code.ts'
import { isEventNumber } from './event-id.ts'
import { EventLook } from './event-look.tsx'
import { typeEvent } from './event-state.ts'
import { canBeChanged } from './event-ways.ts'
import { beginChange, news } from './form-state.ts'
import { LateChangeForm, LateQrCode } from './late-part.tsx'
import { LiveCounts } from './live-counts.tsx'
import { followEvent } from './live-event.ts'
import { isMadeHere } from './made-here.ts'
import { PlayerWords } from './player-words.tsx'
import { eventAddress, isChangeShown, showChange, showForm, shownEvent } from './shown-event.ts'
import { isBeforeOpening } from './state-words.ts'
import { useIsWide } from './use-is-wide.ts'
import { NotConfigured } from './way-choice.tsx'

/** The public page of an event. @param name uuid or id, as in the address */
export function LivePage({ name }: { readonly name: string }) {
  const following = useMemo(() => followEvent(name), [name])
  useEffect(() => following.stop, [following])
  useLayoutEffect(() => {
    // Typed for another event
    forgetEditCode()
    return forgetEditCode
  }, [following])
  const seen = following.event.value
  switch (seen.status) {
    case 'loading':
      return <Loading label={text('organise.live.loading')} />
    case 'unknown':
      return <UnknownEvent name={name} />
    case 'failed':
      return <Failure error={seen.error} isRepeated onRetry={following.refresh} />
    case 'shown':
      return (
        <>
          {seen.error !== undefined && (
            <Notice kind="warning">
              <p>{text('organise.live.stale', { time: formatTime(seen.atMs) })}</p>
              <p>{refusalText(seen.error)}</p>
            </Notice>
          )}
          {isMadeHere(seen.info) && isChangeShown.value && canBeChanged(seen.info) ? (
            <LateChangeForm info={seen.info} availability={seen.availability} onSaved={following.refresh} />
          ) : (
            <ShownEvent info={seen.info} availability={seen.availability} onChanged={following.refresh} />
          )}
        </>
      )
  }
}

/** No failure of the reader: the event may not be registered yet, or the address is incomplete. */
function UnknownEvent({ name }: { readonly name: string }) {
  usePageTitle(text('organise.unknown.heading'))
  const isId = isEventNumber(name)
  return (
    <>
      <h1>{text('organise.unknown.heading')}</h1>
      <Notice kind="info">
        <p>{text('organise.unknown.explained')}</p>
      </Notice>
      <button
        type="button"
        class="primary"
        onClick={() => {
          if (isId) typeEvent(name)
          showForm(isId ? 'poap' : undefined)
        }}
      >
        {text('organise.unknown.register')}
      </button>
    </>
  )
}

interface ShownEventProps {
  readonly info: EventInfo
  readonly availability: Availability
}

function ShownEvent({ info, availability, onChanged }: ShownEventProps & { onChanged(): void }) {
  usePageTitle(info.name)
  useControls(info)
  const change = () => {
    // The name in the address stays: another one would begin with a new page, without the edit code
    if (isMadeHere(info)) return showChange(shownEvent.peek() ?? info.uuid)
    beginChange(info)
    showForm('poap')
  }
  const Part = controls.value && ControlsPart.value
  const isWide = useIsWide()
  // Kept when the event opens meanwhile: nothing moves away from under the finger
  const [isEarly] = useState(() => isBeforeOpening(availability))
  const builders = <ForBuilders info={info} />
  const below = {
    left: (
      <>
        <NextSteps info={info} areControls={Part !== undefined} onChange={change} />
        <PlayerWords info={info} availability={availability} />
      </>
    ),
    right: (
      <>
        <EventLook info={info} />
        {!isEarly && builders}
        <Facts info={info} availability={availability} />
      </>
    ),
  }
  return (
    <div class="live">
      <LiveHeading info={info} />
      <NewsNotice />
      {Part && (
        <Part
          onChanged={onChanged}
          first={isEarly ? builders : undefined}
          below={isWide ? below : undefined}
        />
      )}
      {!(Part && isWide) && (
        <div class="live-columns">
          <div>
            {!Part && (
              <>
                <LiveCounts info={info} availability={availability} onLoad={change} />
                {isEarly && !isWide && builders}
                {canBeChanged(info) ? <AccessForm info={info} /> : <NotConfigured />}
              </>
            )}
            {below.left}
          </div>
          <div>
            {isEarly && isWide && builders}
            {below.right}
          </div>
        </div>
      )}
    </div>
  )
}

function LiveHeading({ info }: { readonly info: EventInfo }) {
  const heading = useFirstFocus<HTMLHeadingElement>()
  return (
    <>
      <h1 ref={heading} tabIndex={-1} dir="auto">
        {withoutTurns(info.name)}
      </h1>
      <p class="lead">{daysText(info)}</p>
    </>
  )
}

/** How long the page says what was done. */
const NEWS_MS = 60_000

function NewsNotice() {
  const what = news.value
  useLayoutEffect(() => {
    const forget = () => {
      if (news.peek() === what) news.value = undefined
    }
    const timer = window.setTimeout(forget, NEWS_MS)
    return () => {
      window.clearTimeout(timer)
      forget()
    }
  }, [what])
  if (!what) return null
  return (
    <Notice kind={what.kind === 'waits' || (what.kind === 'codes' && what.num === 0) ? 'info' : 'success'}>
      <p>{newsText(what)}</p>
    </Notice>
  )
}

function newsText(what: NonNullable<typeof news.value>): string {
  if (what.kind !== 'codes') return text(`organise.news.${what.kind}`)
  const { num, total } = what
  return num > 0
    ? text('organise.news.codes', { count: num, total })
    : text('organise.news.no_new_codes', { total })
}

/** The uuid and address for the scene's builder, to copy or scan. */
function ForBuilders({ info }: { readonly info: EventInfo }) {
  const address = eventAddress(info.uuid)
  return (
    <section class="card">
      <h2>{text('organise.booth.heading')}</h2>
      <p>{text('organise.booth.explained')}</p>
      <p class="row uuid">
        <code>{info.uuid}</code>
        <CopyButton value={info.uuid} label={text('organise.booth.uuid')} />
      </p>
      <h3>{text('organise.qr.heading')}</h3>
      <p>{text('organise.qr.explained')}</p>
      <LateQrCode value={address} label={text('organise.qr.label', { address })} />
      <p class="row">
        <a class="address" href={address}>
          {address}
        </a>
        <CopyButton value={address} label={text('organise.qr.heading')} />
      </p>
    </section>
  )
}

function Facts({ info, availability }: ShownEventProps) {
  const { opens_at, closes_at } = availability
  const timeText = (iso: string) => formatDateTimeThere(Date.parse(iso), info.time_zone)
  return (
    <section class="card">
      <h2>{text('organise.live.facts')}</h2>
      <dl class="facts">
        <dt>{text('organise.event.id')}</dt>
        <dd>{info.id}</dd>
        <dt>{text('organise.live.given_out')}</dt>
        <dd>
          {opens_at && text('organise.live.from', { time: timeText(opens_at) })}{' '}
          {closes_at && text('organise.live.until', { time: timeText(closes_at) })}
          {!opens_at && !closes_at && text('organise.live.always')}
        </dd>
        <dt>{text('organise.places.label')}</dt>
        <dd>
          <Places info={info} />
        </dd>
      </dl>
    </section>
  )
}

function Places({ info }: { readonly info: EventInfo }) {
  if (!info.requires_presence) return <>{text('organise.live.anywhere')}</>
  const places = info.coordinates.split(';')
  const list = (
    <ul class="places">
      {places.map((place) => (
        <li key={place}>{place}</li>
      ))}
    </ul>
  )
  if (places.length <= 12) return list
  return (
    <details>
      <summary>{text('organise.places.count', { count: places.length })}</summary>
      {list}
    </details>
  )
}

interface NextStepsProps extends Pick<ShownEventProps, 'info'> {
  /** Whether the controls are open: they have a part for more tokens. */
  readonly areControls: boolean
  onChange(): void
}

function NextSteps({ info, areControls, onChange }: NextStepsProps) {
  const moreHere = areControls ? 'organise.todo.more_in_controls' : 'organise.next.made_here_full'
  return (
    <section class="card">
      <h2>{text('organise.todo.heading')}</h2>
      <ol class="todo">
        <li>{text('organise.todo.booth')}</li>
        <li>{text('organise.todo.deploy')}</li>
        <li>{text('organise.todo.share')}</li>
        <li>{text(isMadeHere(info) ? moreHere : 'organise.todo.more')}</li>
      </ol>
      {canBeChanged(info) && (
        <button type="button" onClick={onChange}>
          {text('organise.todo.change')}
        </button>
      )}
    </section>
  )
}

function daysText({ event_start_date: first, event_end_date: last }: EventInfo): string {
  const from = first ?? last
  if (from === null) return text('organise.live.no_date')
  return formatDays(Date.parse(from), Date.parse(last ?? from))
}
