import { LISTS, type ListName, type ListQuery } from '../state/explore-state.ts'
import { type TextKey, text } from '../texts/texts.ts'
import { AddressForm } from './address-form.tsx'
import { BidsList, ContributionsList, EstatesList, MortgagesList, ParcelsList } from './address-lists.tsx'
import type { ListProps } from './list-props.ts'
import './lists.css'
import { OnSaleList } from './on-sale-list.tsx'

export interface ListsPanelProps extends ListProps {
  onClose(): void
}

/** What is on sale, and what an address has. */
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
      {query.name !== 'on_sale' && <AddressForm key={query.address} query={query} onChange={onChange} />}
      <ListBody query={query} onChange={onChange} />
    </div>
  )
}

const TITLES: Readonly<Record<ListName, TextKey>> = {
  on_sale: 'asset.sale',
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
  if (query.name === 'on_sale') return <OnSaleList query={query} onChange={onChange} />
  if (query.address === undefined) return <p class="hint">{text('list.address.none')}</p>
  const List = {
    parcels: ParcelsList,
    estates: EstatesList,
    bids: BidsList,
    contributions: ContributionsList,
    mortgages: MortgagesList,
  }[query.name]
  return (
    <List key={`${query.name} ${query.address}`} query={query} address={query.address} onChange={onChange} />
  )
}
