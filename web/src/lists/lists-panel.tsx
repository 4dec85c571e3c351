import { LISTS, type ListName, type ListWish } from '../state/explore-state.ts'
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
export function ListsPanel({ wish, onChange, onClose }: ListsPanelProps) {
  return (
    <div class="lists-panel">
      <header class="panel-header">
        <h2 class="visually-hidden">{text('nav.lists')}</h2>
        <ListChoice wish={wish} onChange={onChange} />
        <button type="button" class="quiet panel-close" aria-label={text('common.close')} onClick={onClose}>
          <span aria-hidden="true">×</span>
        </button>
      </header>
      {wish.name !== 'on_sale' && <AddressForm key={wish.address} wish={wish} onChange={onChange} />}
      <ListBody wish={wish} onChange={onChange} />
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

export function listTitle({ name }: ListWish): string {
  return text(TITLES[name])
}

function ListChoice({ wish, onChange }: ListProps) {
  return (
    <select
      aria-label={text('list.choice')}
      value={wish.name}
      onChange={({ currentTarget }) => onChange({ ...wish, name: currentTarget.value as ListName, page: 1 })}
    >
      {LISTS.map((name) => (
        <option key={name} value={name}>
          {text(TITLES[name])}
        </option>
      ))}
    </select>
  )
}

function ListBody({ wish, onChange }: ListProps) {
  if (wish.name === 'on_sale') return <OnSaleList wish={wish} onChange={onChange} />
  if (wish.address === undefined) return <p class="hint">{text('list.address.none')}</p>
  const List = {
    parcels: ParcelsList,
    estates: EstatesList,
    bids: BidsList,
    contributions: ContributionsList,
    mortgages: MortgagesList,
  }[wish.name]
  return <List key={`${wish.name} ${wish.address}`} wish={wish} address={wish.address} onChange={onChange} />
}
