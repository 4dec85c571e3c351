import type { LandRow } from '@landpass/client'
import { formatComputedPrice, formatOffer } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { findName } from './asset-names.ts'

export interface LandTexts {
  /** Its own name, or what it is. */
  readonly title: string
  /** What it costs, or else its rent a day; undefined for land that is offered to nobody. */
  readonly price: string | undefined
  /** What it is where it has a name, its size, price per parcel, its rent where it is for sale too, and distances. */
  readonly facts: readonly string[]
}

/** What a parcel or an estate is, in a few words. */
export function landTexts(row: LandRow): LandTexts {
  const { asset_type: type, asset_id: id, name, size, price_per_parcel: perParcel, plaza, road } = row
  const { offer, rental_offer: rental } = row
  const rent = rental && formatComputedPrice(Number(rental.price_per_day))
  const kind = text(type === 'parcel' ? 'asset.parcel.numbered' : 'asset.estate.numbered', { id })
  const given = findName(name ?? undefined)
  const facts = [
    given !== undefined && kind,
    type === 'estate' && text('map.parcels', { count: size }),
    size > 1 &&
      perParcel !== null &&
      text('list.per_parcel', { price: formatComputedPrice(Number(perParcel)) }),
    offer !== null && rent !== null && text('list.rent', { price: rent }),
    plaza !== null && text('list.plaza', { count: plaza }),
    road !== null && text('list.road', { count: road }),
  ]
  const price = offer
    ? formatOffer(offer)
    : rent === null
      ? undefined
      : text('rental.per_day', { price: rent })
  return { title: given ?? kind, price, facts: facts.filter((fact) => fact !== false) }
}
