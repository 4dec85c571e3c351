import { isAddressList, LISTS, type ListName, type ListQuery } from '../state/explore-state.ts'
import { type TextKey, text } from '../texts/texts.ts'
import { AddressForm } from './address-form.tsx'
import type { AddressListProps, ListProps } from './list-props.ts'
import { SalesList } from './sales-list.tsx'
import './lists.css'
import { latePart } from '../ui/late-part.tsx'
import { LandList } from './land-list.tsx'

const ListOfAddress = latePart<AddressListProps>(
  async () => (await import('./address-lists-part.ts')).ListOfAddress,
)
const WatchedList = latePart<object>(async () => (await import('./watched-part.ts')).WatchedList)

export interface ListsPanelProps extends ListProps {
  onClose(): void
}

/** The land that the filters keep, its sales, the searches that are watched, and what an address has. */
export function ListsPanel({ query, onChange, onClose }: ListsPanelProps) {
  return (
    <div class="lists-panel">
      <header class="panel-header">
        <h2 class="visually-hidden">{text('nav.lists')}</h2>
        <ListChoice query={query} onChange={onChange} />
        <button type="button" class="quiet panel-close" aria-label={text('common.close')} onClick={onClose}>
          <span aria-hidden="true">×</span>
        </button>
      </header>
      {isAddressList(query.name) && <AddressForm key={query.address} query={query} onChange={onChange} />}
      <ListBody query={query} onChange={onChange} />
    </div>
  )
}

const TITLES: Readonly<Record<ListName, TextKey>> = {
  land: 'list.land',
  sales: 'list.sales',
  watched: 'watch.title',
  parcels: 'asset.parcel.many',
  estates: 'asset.estate.many',
  bids: 'bid.title',
  contributions: 'contribution.title',
  mortgages: 'mortgage.title',
}

export function listTitle({ name }: ListQuery): string {
  return text(TITLES[name])
}

function ListChoice({ query, onChange }: ListProps) {
  return (
    <select
      aria-label={text('list.choice')}
      value={query.name}
      onChange={({ currentTarget }) => onChange({ ...query, name: currentTarget.value as ListName, page: 1 })}
    >
      {LISTS.map((name) => (
        <option key={name} value={name}>
          {text(TITLES[name])}
        </option>
      ))}
    </select>
  )
}

function ListBody({ query, onChange }: ListProps) {
  const { name } = query
  if (name === 'land') return <LandList query={query} onChange={onChange} />
  if (name === 'sales') return <SalesList />
  if (name === 'watched') return <WatchedList />
  if (query.address === undefined) return <p class="hint">{text('list.address.none')}</p>
  return (
    <ListOfAddress
      key={`${name} ${query.address}`}
      name={name}
      query={query}
      address={query.address}
      onChange={onChange}
    />
  )
}
