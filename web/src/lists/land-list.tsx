import { land } from '@landpass/client'
import { useId, useLayoutEffect } from 'preact/hooks'
import { putRight } from '../address-bar/address-bar.ts'
import { client } from '../api/client.ts'
import { ChainOffersHint } from '../asset/chain-offers-hint.tsx'
import { NothingFits } from '../filter/filter-bar.tsx'
import { useAnswer } from '../live/use-answer.ts'
import { FIRST_PAGE, type ListQuery, landFilter, SORT_ORDERS, SORTS } from '../state/explore-state.ts'
import { isFiltered } from '../state/found-land.ts'
import { isOfRents, serverQuery } from '../state/land-filter.ts'
import { text } from '../texts/texts.ts'
import { Failure, Loading } from '../ui/notice.tsx'
import { LandLine } from './land-line.tsx'
import { WatchToggle } from './late-watch-toggle.ts'
import type { ListProps } from './list-props.ts'
import { PAGE_ROWS, pageCount } from './paging.ts'

/** The most rows that the server answers to one request: longer lists are read as a file. */
const MOST_PAGES = 1000 / PAGE_ROWS

/** The land that the filters keep, sorted by the server. Pages are added below those that are shown. */
export function LandList({ query, onChange }: ListProps) {
  const { sortBy, sortOrder, page } = query
  const order = { ...serverQuery(landFilter.value), sort_by: sortBy, sort_order: sortOrder }
  const pages = Math.min(page, MOST_PAGES)
  const call = land.findLand({ ...order, limit: pages * PAGE_ROWS })
  const { data, isOfEarlierCall, error, retry, isAsking } = useAnswer(call)

  const first = sortBy === 'rent' || isOfRents(landFilter.value) ? 'rent' : 'sale'
  const known = isOfEarlierCall ? undefined : data?.total
  const reachable = known === undefined ? page : Math.min(pages, pageCount(known))
  useLayoutEffect(() => {
    if (reachable !== page) putRight(() => onChange({ ...query, page: reachable }))
  }, [reachable, page])

  return (
    <>
      <SortChoice query={query} onChange={onChange} />
      <ChainOffersHint />
      {isFiltered.value && <WatchToggle filters={[landFilter.value]} label={text('watch.start')} />}
      <div class="list">
        {error !== undefined && <Failure error={error} onRetry={retry} />}
        {known === undefined && !data?.total && error === undefined && (
          <Loading label={text('list.loading')} />
        )}
        {known === 0 && (
          <div class="list-none" role="status">
            {isFiltered.value ? <NothingFits /> : text('list.empty')}
          </div>
        )}
        {data !== undefined && data.total > 0 && (
          <>
            <ul class="land-list" aria-busy={isAsking}>
              {data.land.map((row) => (
                <LandLine key={`${row.asset_type} ${row.asset_id}`} row={row} first={first} />
              ))}
            </ul>
            <p role="status">{text('list.shown', { count: data.land.length, total: data.total })}</p>
            {data.land.length < data.total && pages < MOST_PAGES && (
              <button type="button" onClick={() => onChange({ ...query, page: pages + 1 })}>
                {text('list.more')}
              </button>
            )}
          </>
        )}
        {data?.total !== 0 && (
          <p class="list-files">
            <a href={client.url(land.landCsv(order))} download>
              {text('list.download_csv')}
            </a>
            <a href={client.url(land.landAtom(order))}>{text('list.atom')}</a>
            <a href={client.url(land.landCalendar(order))}>{text('list.calendar')}</a>
          </p>
        )}
      </div>
    </>
  )
}

/** Where the server sorts descending by itself. */
const NEWEST_FIRST: readonly string[] = ['listed_at', 'sold_at']

function SortChoice({ query, onChange }: ListProps) {
  const id = useId()
  const sort = (change: Partial<ListQuery>) => onChange({ ...query, ...change, page: FIRST_PAGE.page })
  return (
    <div class="lists-sort">
      <div>
        <label for={id}>{text('list.sort_by')}</label>
        <select
          id={id}
          value={query.sortBy}
          onChange={({ currentTarget }) => {
            const sortBy = currentTarget.value as ListQuery['sortBy']
            sort({ sortBy, sortOrder: NEWEST_FIRST.includes(sortBy) ? 'desc' : 'asc' })
          }}
        >
          {SORTS.map((name) => (
            <option key={name} value={name}>
              {text(`list.sort.${name}`)}
            </option>
          ))}
        </select>
      </div>
      <div>
        <label for={`${id}-order`}>{text('list.order')}</label>
        <select
          id={`${id}-order`}
          value={query.sortOrder}
          onChange={({ currentTarget }) => sort({ sortOrder: currentTarget.value as ListQuery['sortOrder'] })}
        >
          {SORT_ORDERS.map((name) => (
            <option key={name} value={name}>
              {text(`list.order.${name}`)}
            </option>
          ))}
        </select>
      </div>
    </div>
  )
}
