import type { LandRow } from '@landpass/client'
import { formatComputedPrice } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { findName } from './asset-names.ts'

export interface LandTexts {
  /** Its own name, or what it is. */
  readonly title: string
  /** What it is where it has a name, its size, price per parcel, and distances. */
  readonly facts: readonly string[]
}

/** What a parcel or an estate is, in a few words. */
export function landTexts(row: LandRow): LandTexts {
  const { asset_type: type, asset_id: id, name, size, price_per_parcel: perParcel, plaza, road } = row
  const kind = text(type === 'parcel' ? 'asset.parcel.numbered' : 'asset.estate.numbered', { id })
  const given = findName(name ?? undefined)
  const facts = [
    given !== undefined && kind,
    type === 'estate' && text('map.parcels', { count: size }),
    size > 1 &&
      perParcel !== null &&
      text('list.per_parcel', { price: formatComputedPrice(Number(perParcel)) }),
    plaza !== null && text('list.plaza', { count: plaza }),
    road !== null && text('list.road', { count: road }),
  ]
  return { title: given ?? kind, facts: facts.filter((fact) => fact !== false) }
}
