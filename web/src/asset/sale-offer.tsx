import type { Publication } from '@landpass/client'
import type { Answer } from '../live/use-answer.ts'
import { formatComputedPrice, formatDate, formatOffer } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { Failure } from '../ui/notice.tsx'
import { Address } from './address.tsx'
import { ChainOffersHint } from './chain-offers-hint.tsx'
import { Fact, Facts } from './facts.tsx'
import { findCheapestOffer } from './history-rows.ts'
import { Skeleton } from './skeleton.tsx'

export interface SaleOfferProps {
  /** Those that can be accepted, and those that cannot. */
  readonly offers: Answer<readonly Publication[]>
  /** Parcels of an estate. */
  readonly size?: number
}

/** The offer that stands for the asset, if there is one. */
export function SaleOffer({ offers, size = 1 }: SaleOfferProps) {
  if (offers.data === undefined) {
    if (offers.error === undefined) return <Skeleton lines={2} />
    return <Failure error={offers.error} onRetry={offers.retry} />
  }
  const offer = findCheapestOffer(offers.data)
  if (!offer) {
    return (
      <div class="sale-offer sale-offer-none">
        <p>{text('asset.sale.none')}</p>
        <ChainOffersHint />
      </div>
    )
  }
  const { price, expires_at, owner, currency } = offer
  return (
    <div class="sale-offer">
      <p class="sale-price">
        <span>{text('asset.sale')}</span> <strong>{formatOffer(offer)}</strong>
      </p>
      {currency === 'usd' ? (
        <p class="hint">{text('asset.sale.in_dollars')}</p>
      ) : (
        size > 1 && <p>{text('list.per_parcel', { price: formatComputedPrice(price / size) })}</p>
      )}
      <Facts>
        <Fact name={text('publication.expires')}>{formatDate(expires_at)}</Fact>
        <Fact name={text('publication.seller')}>
          <Address address={owner} />
        </Fact>
      </Facts>
    </div>
  )
}
