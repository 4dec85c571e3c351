import { type Estate, land, type Parcel } from '@landpass/client'
import { encodeTokenId } from '@landpass/client/grid'
import { useAnswer } from '../live/use-answer.ts'
import { worldChange, worldGrid } from '../live/world.ts'
import type { Place } from '../map/map-types.ts'
import { onePlace } from '../state/land-filter.ts'
import { showEstate } from '../state/travel.ts'
import { formatNumber } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { AddressFact } from './address.tsx'
import { AssetDetails } from './asset-details.tsx'
import { AssetFrame } from './asset-frame.tsx'
import { estateName, parcelName } from './asset-names.ts'
import { BidsSection } from './bids-section.tsx'
import { Description } from './description.tsx'
import { DistrictFact } from './district-fact.tsx'
import { Fact, Facts } from './facts.tsx'
import { groundText } from './ground-text.ts'
import { HistorySection } from './history-section.tsx'
import { ImageSection } from './image-section.tsx'
import { MortgagesSection } from './mortgages-section.tsx'
import { PageLinks } from './page-links.tsx'
import type { PanelProps } from './panel-props.ts'
import { Rent } from './rent.tsx'
import { RentalOffers } from './rental-offers.tsx'
import { RightsSection } from './rights-section.tsx'
import { SaleOffer } from './sale-offer.tsx'
import { TokenFact } from './token-fact.tsx'
import { WorthSection } from './worth-section.tsx'

export interface ParcelPanelProps extends Place, PanelProps {}

export function ParcelPanel({ x, y, watchOf, onClose }: ParcelPanelProps) {
  const place = { x, y }
  const parcel = useAnswer(land.parcel(place))
  const publications = useAnswer(land.parcelPublications(place))
  const offers = useAnswer(land.parcelOffers(place))
  const bids = useAnswer(land.parcelBids(place, { sanitize: false }))
  const mortgages = useAnswer(land.parcelMortgages(place))
  const rights = useAnswer(land.parcelRights(place))
  const isLot = isSold(place)
  const value = useAnswer(isLot ? land.parcelValue(place) : undefined)
  const name = parcelName({ ...place, data: parcel.data?.data ?? {} })
  return (
    <AssetFrame
      kind={groundText(place)}
      title={name}
      answer={parcel}
      missing={text('error.parcel_not_found')}
      onClose={onClose}
    >
      {(data) => (
        <>
          <SaleOffer offers={offers} />
          <PageLinks type="parcel" place={place} />
          {watchOf?.([onePlace(place)])}
          {isLot && <WorthSection answer={value} />}
          <Rent asset={data} />
          <RentalOffers call={land.parcelRentalOffers(place)} />
          <Description value={data.data.description} />
          <ParcelFacts parcel={data} />
          <RightsSection answer={rights} />
          <HistorySection answer={publications} offers={offers} />
          <BidsSection answer={bids} />
          <MortgagesSection answer={mortgages} />
          <ImageSection selection={{ type: 'parcel', ...place }} name={name} />
          <AssetDetails>
            {data.operator !== null && <AddressFact name={text('asset.operator')} address={data.operator} />}
            <TokenFact id={`${encodeTokenId(place)}`} />
          </AssetDetails>
        </>
      )}
    </AssetFrame>
  )
}

function ParcelFacts({ parcel }: { readonly parcel: Parcel }) {
  const { x, y, estate_id: estateId, tags } = parcel
  const estate = useAnswer(estateId === null ? undefined : land.estate(estateId))
  const districts = useAnswer(parcel.district_id === null ? undefined : land.districts())
  const { road, plaza } = tags.proximity ?? {}
  return (
    <Facts>
      <Fact name={text('asset.coordinates')}>{`${x},${y}`}</Fact>
      {estateId !== null && <EstateFact id={estateId} estate={estate.data} />}
      <OwnerFact parcel={parcel} estate={estate.data} />
      {parcel.district_id !== null && <DistrictFact id={parcel.district_id} answer={districts} />}
      {plaza && <Fact name={text('asset.near.plaza')}>{distanceText(plaza.distance)}</Fact>}
      {road && <Fact name={text('asset.near.road')}>{distanceText(road.distance)}</Fact>}
    </Facts>
  )
}

function EstateFact({ id, estate }: { readonly id: string; readonly estate: Estate | undefined }) {
  return (
    <Fact name={text('asset.estate')}>
      <button type="button" onClick={() => showEstate(id)}>
        <bdi>{estateName(estate ?? { id, data: {} })}</bdi>
      </button>
    </Fact>
  )
}

/** The estate contract is the registered owner of parcels in estates, so the estate's owner is shown. */
function OwnerFact({ parcel, estate }: { readonly parcel: Parcel; readonly estate: Estate | undefined }) {
  const owner = parcel.estate_id === null ? parcel.owner : estate?.owner
  if (owner) return <AddressFact name={text('asset.owner')} address={owner} />
  return <Fact name={text('asset.owner')}>{owner === null ? text('asset.nobody') : '…'}</Fact>
}

function distanceText(count: number): string {
  return count === 0 ? text('asset.near.adjacent') : formatNumber(count)
}

/** Whether a parcel can be bought, or could once: plazas, roads and the land of districts are not for sale. */
function isSold({ x, y }: Place): boolean {
  void worldChange.value // the grid changes in place
  const type = worldGrid.value?.tileAt(x, y).type
  return type === 'owned' || type === 'unowned'
}
