import { land } from '@landpass/client'
import { batch } from '@preact/signals'
import { filterOf, filterText } from '../address-bar/permalink.ts'
import { client } from '../api/client.ts'
import { groupText } from '../filter/filter-texts.ts'
import { useAnswer } from '../live/use-answer.ts'
import { landFilter } from '../state/explore-state.ts'
import { groupsOf, serverQuery } from '../state/land-filter.ts'
import { showFound } from '../state/travel.ts'
import { text } from '../texts/texts.ts'
import { canNotify, isNotifying, isRefused, toggleNotifying } from '../watch/notifications.ts'
import { isWatched, MAX_WATCHES, markSeen, unwatch, type Watch, watch, watches } from '../watch/watches.ts'
import { LandLine } from './land-line.tsx'

/** Begins or ends to watch the search that is on. */
export function WatchToggle() {
  const filter = landFilter.value
  const isOn = isWatched(filter)
  const isFull = !isOn && watches.value.length >= MAX_WATCHES
  return (
    <div>
      <button
        type="button"
        aria-pressed={isOn}
        disabled={isFull}
        onClick={() => (isOn ? unwatch(filterText(filter)) : watch(filter))}
      >
        {text(isOn ? 'watch.stop' : 'watch.start')}
      </button>
      {isFull && <p class="hint">{text('watch.limit', { count: MAX_WATCHES })}</p>}
    </div>
  )
}

/** The searches that this browser watches, with what is new since the reader has looked. */
export function WatchedList() {
  return (
    <div class="list">
      <p class="hint">{text('watch.hint', { count: MAX_WATCHES })}</p>
      {watches.value.length > 0 && canNotify && (
        <div>
          <button type="button" aria-pressed={isNotifying.value} onClick={() => void toggleNotifying()}>
            {text(isNotifying.value ? 'watch.notify.stop' : 'watch.notify')}
          </button>
          <p class="fault" role="status">
            {isRefused.value && text('watch.notify.refused')}
          </p>
        </div>
      )}
      {watches.value.map((one) => (
        <WatchedSearch key={one.filters} {...one} />
      ))}
    </div>
  )
}

function WatchedSearch({ filters, news }: Watch) {
  const filter = filterOf(filters)
  const districts = useAnswer(filter.in_district === undefined ? undefined : land.districts())
  const name = groupsOf(filter)
    .map((group) => groupText(group, filter, districts.data))
    .join(' · ')
  const show = () =>
    batch(() => {
      landFilter.value = filter
      showFound()
    })
  return (
    <section class="asset-section" aria-label={name}>
      <h3>{name}</h3>
      <p role="status">{news.length > 0 ? text('watch.news', { count: news.length }) : text('watch.none')}</p>
      {news.length > 0 && (
        <>
          <ul class="land-list">
            {news.map((row) => (
              <LandLine key={`${row.asset_type} ${row.asset_id}`} row={row} />
            ))}
          </ul>
          <button type="button" onClick={() => markSeen(filters)}>
            {text('watch.seen')}
          </button>
        </>
      )}
      <div class="row">
        <button type="button" onClick={show}>
          {text('watch.show')}
        </button>
        <button type="button" onClick={() => unwatch(filters)}>
          {text('watch.stop')}
        </button>
        <a href={client.url(land.landAtom(serverQuery(filter)))}>{text('list.atom')}</a>
      </div>
    </section>
  )
}
