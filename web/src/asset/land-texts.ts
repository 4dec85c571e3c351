import type { LandRow } from '@landpass/client'
import { formatComputedPrice, formatNumber, formatOffer } from '../texts/format.ts'
import { type TextKey, text } from '../texts/texts.ts'
import { findName } from './asset-names.ts'

export interface LandTexts {
  /** Its own name, or what it is. */
  readonly title: string
  /** What it costs, or its rent a day; undefined for land that is not offered. */
  readonly price: string | undefined
  /** What it is where it has a name, its size, price per parcel, the other one of price and rent, and distances. */
  readonly facts: readonly string[]
}

/**
 * What a parcel or an estate is, in a few words.
 *
 * @param first of land that is both for sale and for rent: which of them is its price
 */
export function landTexts(row: LandRow, first: 'sale' | 'rent' = 'sale'): LandTexts {
  const { asset_type: type, asset_id: id, name, size, price_per_parcel: perParcel, plaza, road } = row
  const { offer, rental_offer: rental } = row
  const sale = offer ? formatOffer(offer) : undefined
  const rent = rental ? formatComputedPrice(Number(rental.price_per_day)) : undefined
  const isRent = rent !== undefined && (sale === undefined || first === 'rent')
  const kind = text(type === 'parcel' ? 'asset.parcel.numbered' : 'asset.estate.numbered', { id })
  const given = findName(name ?? undefined)
  const facts = [
    given !== undefined && kind,
    type === 'estate' && text('map.parcels', { count: size }),
    size > 1 &&
      perParcel !== null &&
      text('list.per_parcel', { price: formatComputedPrice(Number(perParcel)) }),
    isRent && sale !== undefined && text('filter.is', { name: text('asset.sale'), value: sale }),
    !isRent && rent !== undefined && text('list.rent', { price: rent }),
    plaza !== null && distanceText(plaza, 'filter.plaza', 'list.next_to_plaza'),
    road !== null && distanceText(road, 'filter.road', 'list.next_to_road'),
  ]
  const price = isRent ? text('rental.per_day', { price: rent }) : sale
  return { title: given ?? kind, price, facts: facts.filter((fact) => fact !== false) }
}

function distanceText(parcels: number, name: TextKey, beside: TextKey): string {
  return parcels === 0 ? text(beside) : text('filter.is', { name: text(name), value: formatNumber(parcels) })
}
