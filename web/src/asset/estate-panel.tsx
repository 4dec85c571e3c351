import { type Estate, land, type Publication } from '@landpass/client'
import { useSignal } from '@preact/signals'
import { type Answer, useAnswer } from '../live/use-answer.ts'
import type { Place } from '../map/map-types.ts'
import { showSelected } from '../state/explore-state.ts'
import { type LandFilter, onePlace } from '../state/land-filter.ts'
import { text } from '../texts/texts.ts'
import { Notice } from '../ui/notice.tsx'
import { AddressFact } from './address.tsx'
import { AssetDetails } from './asset-details.tsx'
import { AssetFrame } from './asset-frame.tsx'
import { estateName } from './asset-names.ts'
import { BidsSection } from './bids-section.tsx'
import { Description } from './description.tsx'
import { DistrictFact } from './district-fact.tsx'
import { Fact, Facts } from './facts.tsx'
import { HistorySection } from './history-section.tsx'
import { ImageSection } from './image-section.tsx'
import { PageLinks } from './page-links.tsx'
import type { PanelProps } from './panel-props.ts'
import { Rent } from './rent.tsx'
import { RentalOffers } from './rental-offers.tsx'
import { RightsSection } from './rights-section.tsx'
import { SaleOffer } from './sale-offer.tsx'
import { TokenFact } from './token-fact.tsx'
import { WorthSection } from './worth-section.tsx'

export interface EstatePanelProps extends PanelProps {
  readonly id: string
}

export function EstatePanel({ id, watchOf, onClose }: EstatePanelProps) {
  const estate = useAnswer(land.estate(id))
  const publications = useAnswer(land.estatePublications(id))
  const offers = useAnswer(land.estateOffers(id))
  const bids = useAnswer(land.estateBids(id, { sanitize: false }))
  const rights = useAnswer(land.estateRights(id))
  const name = estateName(estate.data ?? { id, data: {} })
  return (
    <AssetFrame
      kind={text('asset.estate')}
      title={name}
      answer={estate}
      missing={text('error.estate_not_found')}
      onClose={onClose}
    >
      {(data) => (
        <>
          {isDissolved(data) ? (
            <Dissolved />
          ) : (
            <EstateOffer estate={data} offers={offers} watchOf={watchOf} />
          )}
          <Rent asset={data} />
          <RentalOffers call={land.estateRentalOffers(id)} />
          <Description value={data.data.description} />
          <EstateFacts estate={data} />
          {!isDissolved(data) && <Members places={data.data.parcels} />}
          {!isDissolved(data) && <RightsSection answer={rights} />}
          <HistorySection answer={publications} offers={offers} />
          <BidsSection answer={bids} />
          {!isDissolved(data) && <ImageSection selection={{ type: 'estate', id }} name={name} />}
          <AssetDetails>
            {data.operator !== null && <AddressFact name={text('asset.operator')} address={data.operator} />}
            <TokenFact id={data.token_id} />
          </AssetDetails>
        </>
      )}
    </AssetFrame>
  )
}

interface EstateOfferProps extends Pick<EstatePanelProps, 'watchOf'> {
  readonly estate: Estate
  readonly offers: Answer<readonly Publication[]>
}

function EstateOffer({ estate, offers, watchOf }: EstateOfferProps) {
  const value = useAnswer(land.estateValue(estate.id))
  const [first, ...others] = estate.data.parcels
  const filterAt = (place: Place): LandFilter => ({ asset_type: 'estate', ...onePlace(place) })
  return (
    <>
      <SaleOffer offers={offers} size={estate.data.parcels.length} />
      {first && <PageLinks type="estate" place={first} />}
      {first && watchOf?.([filterAt(first), ...others.map(filterAt)])}
      <WorthSection answer={value} />
    </>
  )
}

/** A dissolved estate has no parcels any more. It stays in the histories, but is not on the map. */
function isDissolved({ data }: Estate): boolean {
  return data.parcels.length === 0
}

function Dissolved() {
  return (
    <Notice kind="info">
      <p>{text('asset.dissolved')}</p>
    </Notice>
  )
}

function EstateFacts({ estate }: { readonly estate: Estate }) {
  const districts = useAnswer(estate.district_id === null ? undefined : land.districts())
  return (
    <Facts>
      <Fact name={text('asset.size')}>
        {text('asset.size.parcels', { count: estate.data.parcels.length })}
      </Fact>
      <AddressFact name={text('asset.owner')} address={estate.owner} />
      {estate.district_id !== null && <DistrictFact id={estate.district_id} answer={districts} />}
    </Facts>
  )
}

/** Up to this many parcels are listed without a button. */
const FEW = 12

function Members({ places }: { readonly places: readonly Place[] }) {
  const isOpen = useSignal(false)
  const title = text('asset.parcel.many')
  if (places.length <= FEW) {
    return (
      <section class="asset-section">
        <h3>{title}</h3>
        <PlaceList places={places} />
      </section>
    )
  }
  return (
    <section class="asset-section">
      <h3>{title}</h3>
      <details
        onToggle={({ currentTarget }) => {
          isOpen.value = currentTarget.open
        }}
      >
        <summary>{text('asset.parcels.all', { count: places.length })}</summary>
        {isOpen.value && <PlaceList places={places} />}
      </details>
    </section>
  )
}

function PlaceList({ places }: { readonly places: readonly Place[] }) {
  return (
    <ul class="place-list">
      {places.map(({ x, y }) => (
        <li key={`${x},${y}`}>
          <button
            type="button"
            onClick={() => showSelected({ type: 'parcel', x, y }, { x, y })}
          >{`${x},${y}`}</button>
        </li>
      ))}
    </ul>
  )
}
