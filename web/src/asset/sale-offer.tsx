import type { Publication } from '@landpass/client'
import type { Answer } from '../live/use-answer.ts'
import { formatComputedPrice, formatDate, formatOffer } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { Address } from './address.tsx'
import { ChainOffersHint } from './chain-offers-hint.tsx'
import { Fact, Facts } from './facts.tsx'
import { cheapestInDollars } from './history-rows.ts'
import { Skeleton } from './skeleton.tsx'

export interface SaleOfferProps {
  /** The offer in MANA that can be taken now. */
  readonly publication: Publication | null
  /** All offers, also those in dollars. */
  readonly offers: Answer<readonly Publication[]>
  /** Parcels of an estate. */
  readonly size?: number
}

/** The offer that can be taken now, if there is one: in MANA, or else the cheapest in dollars. */
export function SaleOffer({ publication, offers, size = 1 }: SaleOfferProps) {
  const offer = publication ?? cheapestInDollars(offers.data ?? [])
  if (!offer) {
    if (offers.data === undefined && offers.error === undefined) return <Skeleton lines={2} />
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
