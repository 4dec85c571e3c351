import { land } from '@landpass/client'
import { batch } from '@preact/signals'
import { filterOf, filterText } from '../address-bar/permalink.ts'
import { client } from '../api/client.ts'
import { landTexts } from '../asset/land-texts.ts'
import { groupText } from '../filter/filter-texts.ts'
import { useAnswer } from '../live/use-answer.ts'
import { FIRST_PAGE, landFilter, openList } from '../state/explore-state.ts'
import { groupsOf, isOnePlace, serverQuery } from '../state/land-filter.ts'
import { showAsset, showFound } from '../state/travel.ts'
import { text } from '../texts/texts.ts'
import { canNotify, isNotifying, isRefused, toggleNotifying } from '../watch/notifications.ts'
import { findWatched, MAX_WATCHES, markSeen, unwatch, type Watch, watch, watches } from '../watch/watches.ts'
import { LandLine } from './land-line.tsx'
import type { WatchToggleProps } from './list-props.ts'

/** Begins or ends to watch what some filters keep. */
export function WatchToggle({ filters, label }: WatchToggleProps) {
  const watched = findWatched(filters)
  const isOn = watched !== undefined
  const isFull = !isOn && watches.value.length >= MAX_WATCHES
  return (
    <div class="watch">
      <button
        type="button"
        aria-pressed={isOn}
        disabled={isFull}
        onClick={() => (watched ? unwatch(filterText(watched)) : watch(filters[0]))}
      >
        {isOn ? text('watch.stop') : label}
      </button>
      {isOn && (
        <button type="button" class="quiet" onClick={showWatched}>
          {text('watch.title')}
        </button>
      )}
      <p class="hint" role="status">
        {isOn && text('watch.started')}
      </p>
      {isFull && <p class="hint">{text('watch.limit', { count: MAX_WATCHES })}</p>}
    </div>
  )
}

function showWatched(): void {
  openList.value = { name: 'watched', ...FIRST_PAGE }
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
  const place = useAnswer(
    isOnePlace(filter) ? land.findLand({ ...serverQuery(filter), limit: 1 }) : undefined,
  )
  const asset = place.data?.land[0]
  const name = asset
    ? landTexts(asset).title
    : groupsOf(filter)
        .map((group) => groupText(group, filter, districts.data))
        .join(' · ')
  const show = () =>
    batch(() => {
      if (asset) return showAsset(asset.asset_type, asset.asset_id)
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
          {text(asset ? 'watch.show_asset' : 'watch.show')}
        </button>
        <button type="button" onClick={() => unwatch(filters)}>
          {text('watch.stop')}
        </button>
        <a href={client.url(land.landAtom(serverQuery(filter)))}>{text('list.atom')}</a>
      </div>
    </section>
  )
}
