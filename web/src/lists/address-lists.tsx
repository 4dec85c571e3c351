import {
  type Bid,
  type Call,
  type Contribution,
  type District,
  type Estate,
  land,
  type Mortgage,
  type Parcel,
  type Publication,
} from '@landpass/client'
import { offerState } from '../asset/offer-state.ts'
import { bidStateText } from '../asset/offer-texts.ts'
import { useAnswer } from '../live/use-answer.ts'
import { showDistrict } from '../state/travel.ts'
import { withoutTurns } from '../texts/bidi.ts'
import { formatDate, formatNumber, formatOffer, formatPrice, shortAddress } from '../texts/format.ts'
import { type TextKey, text } from '../texts/texts.ts'
import { ListAsset } from './list-asset.tsx'
import { ListFrame } from './list-frame.tsx'
import type { AddressListProps } from './list-props.ts'
import { type Column, ListTable } from './list-table.tsx'
import { rowsOfPage, shownPage } from './paging.ts'

/** One of the lists of what an address has. */
export function ListOfAddress(props: AddressListProps) {
  const List = {
    parcels: ParcelsList,
    estates: EstatesList,
    bids: BidsList,
    contributions: ContributionsList,
    mortgages: MortgagesList,
  }[props.name]
  return <List {...props} />
}

function ParcelsList(props: AddressListProps) {
  const offer = useOfferColumns(props.address)
  const columns: readonly Column<Parcel>[] = [
    {
      title: text('asset.parcel'),
      cell: ({ id, data }) => <ListAsset type="parcel" id={id} name={data.name} />,
    },
    offer.price,
    offer.expiry,
  ]
  return (
    <AddressList
      {...props}
      title={text('asset.parcel.many')}
      call={land.parcelsOf(props.address)}
      columns={columns}
      none={text('list.empty')}
      counted="map.parcels"
      keyOf={({ id }) => id}
    />
  )
}

function EstatesList(props: AddressListProps) {
  const offer = useOfferColumns(props.address)
  const columns: readonly Column<Estate>[] = [
    {
      title: text('asset.estate'),
      cell: ({ id, data }) => <ListAsset type="estate" id={id} name={data.name} />,
    },
    offer.price,
    {
      title: text('asset.parcel.many'),
      isNumber: true,
      cell: ({ data }) => formatNumber(data.parcels.length),
    },
    offer.expiry,
  ]
  return (
    <AddressList
      {...props}
      title={text('asset.estate.many')}
      call={land.estatesOf(props.address)}
      columns={columns}
      none={text('list.empty')}
      counted="map.estates"
      keyOf={({ id }) => id}
    />
  )
}

function BidsList(props: AddressListProps) {
  const { address } = props
  const nowMs = Date.now()
  const columns: readonly Column<Bid>[] = [
    landColumn(),
    { title: text('bid.price'), isPrice: true, cell: ({ price }) => formatPrice(price) },
    { title: text('list.status'), isState: true, cell: (bid) => bidStateText(offerState(bid, nowMs)) },
    {
      title: text('list.bid.side'),
      isClear: true,
      cell: ({ bidder, seller }) =>
        bidder === address ? (
          <span title={seller}>{text('list.bid.made', { seller: shortAddress(seller) })}</span>
        ) : (
          <span title={bidder}>{text('list.bid.received', { bidder: shortAddress(bidder) })}</span>
        ),
    },
    { title: text('bid.expires'), cell: ({ expires_at }) => formatDate(expires_at) },
  ]
  return (
    <AddressList
      {...props}
      title={text('bid.title')}
      call={land.bidsOf(address)}
      columns={columns}
      none={text('bid.none')}
      keyOf={({ id }) => id}
    />
  )
}

function ContributionsList(props: AddressListProps) {
  const districts = useAnswer(land.districts())
  const columns: readonly Column<Contribution>[] = [
    {
      title: text('asset.district'),
      cell: ({ district_id }) => (
        <ListDistrict id={district_id} district={districts.data?.find(({ id }) => id === district_id)} />
      ),
    },
    {
      title: text('contribution.land'),
      isNumber: true,
      cell: ({ land_count }) => formatNumber(Number(land_count)),
    },
  ]
  return (
    <AddressList
      {...props}
      title={text('contribution.title')}
      call={land.contributionsOf(props.address)}
      columns={columns}
      none={text('contribution.none')}
      keyOf={({ district_id }) => district_id}
    />
  )
}

function MortgagesList(props: AddressListProps) {
  const columns: readonly Column<Mortgage>[] = [
    landColumn(),
    { title: text('mortgage.amount'), isPrice: true, cell: ({ amount }) => formatPrice(amount) },
    {
      title: text('mortgage.outstanding'),
      isNumber: true,
      cell: ({ outstanding_amount }) => formatPrice(outstanding_amount),
    },
    {
      title: text('list.status'),
      isState: true,
      cell: ({ status }) => text(`mortgage.status.${status}`),
    },
    { title: text('list.created'), cell: ({ block_time_created_at }) => formatDate(block_time_created_at) },
  ]
  return (
    <AddressList
      {...props}
      title={text('mortgage.title')}
      call={land.mortgagesOf(props.address)}
      columns={columns}
      none={text('mortgage.none')}
      keyOf={({ mortgage_id }) => `${mortgage_id}`}
    />
  )
}

interface ListOfAddress<Row> extends AddressListProps {
  readonly title: string
  readonly call: Call<readonly Row[]>
  readonly columns: readonly Column<Row>[]
  readonly none: string
  readonly counted?: TextKey
  keyOf(row: Row): string
}

/** The interface answers these lists without pages, so the pages are made here. */
function AddressList<Row>(props: ListOfAddress<Row>) {
  const { name, address, query, onChange, title, call, columns, none, counted = 'list.total', keyOf } = props
  const answer = useAnswer(call)
  const page = shownPage(query.page, answer.data?.length ?? 0)
  return (
    <ListFrame
      file={{ name, address, call }}
      answer={answer}
      page={page}
      none={none}
      counted={counted}
      totalOf={(rows) => rows.length}
      onTurn={(next) => onChange({ ...query, page: next })}
    >
      {(rows) => (
        <ListTable
          title={title}
          columns={columns}
          rows={rowsOfPage(rows, page)}
          isAsking={answer.isAsking}
          keyOf={keyOf}
        />
      )}
    </ListFrame>
  )
}

function landColumn(): Column<Pick<Bid, 'asset_type' | 'asset_id'>> {
  return {
    title: text('list.land'),
    cell: ({ asset_type, asset_id }) => <ListAsset type={asset_type} id={asset_id} />,
  }
}

interface Sellable {
  readonly id: string
  readonly publication: Publication | null
}

/**
 * Price and expiry of the offer that stands for each parcel or estate of an address. The lists of these have the newest one in MANA, which
 * is shown until the offers are loaded.
 */
function useOfferColumns(owner: string): {
  readonly price: Column<Sellable>
  readonly expiry: Column<Sellable>
} {
  const { data } = useAnswer(land.findLand({ owner, status: 'open', limit: 1000 }))
  const offerOf = ({ id, publication }: Sellable) =>
    data?.land.find(({ asset_id }) => asset_id === id)?.offer ?? publication
  return {
    price: {
      title: text('publication.price'),
      isPrice: true,
      cell: (asset) => {
        const offer = offerOf(asset)
        return offer ? formatOffer(offer) : text('asset.sale.none')
      },
    },
    expiry: {
      title: text('publication.expires'),
      cell: (asset) => {
        const offer = offerOf(asset)
        return offer && formatDate(offer.expires_at)
      },
    },
  }
}

interface ListDistrictProps {
  readonly id: string
  /** Undefined while the districts are loading, and for a disabled district. */
  readonly district: District | undefined
}

function ListDistrict({ id, district }: ListDistrictProps) {
  if (!district) return <code>{id}</code>
  return (
    <button type="button" class="list-asset" onClick={() => showDistrict(id)}>
      <bdi class="list-asset-name">{withoutTurns(district.name)}</bdi>
    </button>
  )
}
