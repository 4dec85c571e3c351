import { type Estate, isEstate, land, type Parcel, type SortBy, type SortOrder } from '@landpass/client'
import { useEffect, useId } from 'preact/hooks'
import { putRight } from '../address-bar/address-bar.ts'
import { ChainOffersHint } from '../asset/chain-offers-hint.tsx'
import { useAnswer } from '../live/use-answer.ts'
import { type ListQuery, SORT_ORDERS, SORTS } from '../state/explore-state.ts'
import { formatDate, formatPrice } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { ListAsset } from './list-asset.tsx'
import { ListFrame } from './list-frame.tsx'
import type { ListProps } from './list-props.ts'
import { type Column, ListTable } from './list-table.tsx'
import { PAGE_ROWS, shownPage } from './paging.ts'

/** Parcels and estates for sale, sorted and paged by the server. */
export function OnSaleList({ query, onChange }: ListProps) {
  const { sortBy, sortOrder, page } = query
  const offset = (page - 1) * PAGE_ROWS
  const answer = useAnswer(
    land.marketplace({ status: 'open', sort_by: sortBy, sort_order: sortOrder, limit: PAGE_ROWS, offset }),
  )
  const turn = (next: number) => onChange({ ...query, page: next })

  const total = answer.isAsking ? undefined : answer.data?.total
  const reachable = total === undefined ? page : shownPage(page, total)
  useEffect(() => {
    if (reachable !== page) putRight(() => turn(reachable))
  }, [reachable, page])

  return (
    <>
      <SortChoice query={query} onChange={onChange} />
      <ChainOffersHint />
      <ListFrame
        key={`${sortBy} ${sortOrder}`}
        query={query}
        answer={answer}
        page={page}
        none={text('list.empty')}
        counted="list.offers"
        totalOf={(data) => data.total}
        onTurn={turn}
      >
        {({ assets }) => (
          <ListTable
            title={text('asset.sale')}
            columns={columns()}
            rows={assets}
            isAsking={answer.isAsking}
            keyOf={({ id, publication }) => `${publication?.asset_type} ${id} ${publication?.tx_hash}`}
          />
        )}
      </ListFrame>
    </>
  )
}

type Asset = Parcel | Estate

function columns(): readonly Column<Asset>[] {
  return [
    {
      title: text('list.land'),
      cell: (asset) => (
        <ListAsset type={isEstate(asset) ? 'estate' : 'parcel'} id={asset.id} name={asset.data.name} />
      ),
    },
    {
      title: text('publication.price'),
      isPrice: true,
      cell: ({ publication }) => publication && formatPrice(publication.price),
    },
    {
      title: text('publication.offered'),
      cell: ({ publication }) => publication && formatDate(publication.block_time_created_at),
    },
    {
      title: text('publication.expires'),
      cell: ({ publication }) => publication && formatDate(publication.expires_at),
    },
  ]
}

/** The server's default order of each `sort_by`. */
const NATURAL_ORDER: Readonly<Record<SortBy, SortOrder>> = {
  price: 'asc',
  created_at: 'desc',
  block_time_updated_at: 'desc',
  expires_at: 'asc',
}

function SortChoice({ query, onChange }: ListProps) {
  const id = useId()
  const sort = (change: Partial<ListQuery>) => onChange({ ...query, ...change, page: 1 })
  return (
    <div class="lists-sort">
      <div>
        <label for={id}>{text('list.sort_by')}</label>
        <select
          id={id}
          value={query.sortBy}
          onChange={({ currentTarget }) => {
            const sortBy = currentTarget.value as SortBy
            sort({ sortBy, sortOrder: NATURAL_ORDER[sortBy] })
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
          onChange={({ currentTarget }) => sort({ sortOrder: currentTarget.value as SortOrder })}
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
