import type { Publication } from '@landpass/client'
import { formatComputedPrice, formatDate, formatPrice } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { Address } from './address.tsx'
import { ChainOffersHint } from './chain-offers-hint.tsx'
import { Fact, Facts } from './facts.tsx'

export interface SaleOfferProps {
  readonly publication: Publication | null
  /** Parcels of an estate. */
  readonly size?: number
}

/** The offer that can be taken now, if there is one. */
export function SaleOffer({ publication, size = 1 }: SaleOfferProps) {
  if (!publication) {
    return (
      <div class="sale-offer sale-offer-none">
        <p>{text('asset.sale.none')}</p>
        <ChainOffersHint />
      </div>
    )
  }
  const { price, expires_at, owner } = publication
  return (
    <div class="sale-offer">
      <p class="sale-price">
        <span>{text('asset.sale')}</span> <strong>{formatPrice(price)}</strong>
      </p>
      {size > 1 && <p>{text('list.per_parcel', { price: formatComputedPrice(price / size) })}</p>}
      <Facts>
        <Fact name={text('publication.expires')}>{formatDate(expires_at)}</Fact>
        <Fact name={text('publication.seller')}>
          <Address address={owner} />
        </Fact>
      </Facts>
    </div>
  )
}
