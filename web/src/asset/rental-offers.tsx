import type { Call, RentalOffer } from '@landpass/client'
import { followedChain } from '../live/chain.ts'
import { useAnswer } from '../live/use-answer.ts'
import { formatComputedPrice, formatDate } from '../texts/format.ts'
import { type TextKey, text } from '../texts/texts.ts'
import { AssetSection } from './asset-section.tsx'
import { Folded } from './folded.tsx'

/** The offers to rent an asset, and why some cannot be accepted now; nothing where the server reads none, or has none. */
export function RentalOffers({ call }: { readonly call: Call<readonly RentalOffer[]> }) {
  const rentals = followedChain.value?.status.rentals
  const isRead = rentals !== undefined && rentals.state !== 'off'
  const answer = useAnswer(isRead ? call : undefined)
  if (!isRead || answer.data?.length === 0) return null
  return (
    <AssetSection title={text('rental.offers')} answer={answer}>
      {(offers) => (
        <Folded items={offers} none="">
          {(offer) => <RentalOfferItem key={offer.id} offer={offer} />}
        </Folded>
      )}
    </AssetSection>
  )
}

function RentalOfferItem({ offer: { periods, expires_at, state } }: { readonly offer: RentalOffer }) {
  return (
    <li class="rental-offer">
      {periods.map(({ min_days, max_days, price_per_day }) => (
        <p key={`${min_days} ${max_days} ${price_per_day}`} class="rental-period">
          <span>{text('rental.days', { from: min_days, to: max_days })}</span>
          <strong>{text('rental.per_day', { price: formatComputedPrice(Number(price_per_day)) })}</strong>
        </p>
      ))}
      <span class="hint">
        {state === 'open' ? text('rental.until', { date: formatDate(expires_at) }) : text(STATES[state])}
      </span>
    </li>
  )
}

const STATES = {
  used: 'rental.state.cancelled',
  cancelled: 'rental.state.cancelled',
  expired: 'publication.expired',
  not_yet: 'rental.state.not_yet',
  owner_changed: 'rental.state.owner_changed',
  estate_changed: 'rental.state.owner_changed',
  not_approved: 'rental.state.not_approved',
  paused: 'rental.state.paused',
  bad_signature: 'rental.state.bad_signature',
  unseen: 'rental.state.unseen',
} as const satisfies Record<Exclude<RentalOffer['state'], 'open'>, TextKey>
