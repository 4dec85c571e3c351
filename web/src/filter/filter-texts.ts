import type { District } from '@landpass/client'
import type { FilterGroup, LandFilter, RangeName } from '../state/land-filter.ts'
import { withoutTurns } from '../texts/bidi.ts'
import { formatNumber, shortAddress } from '../texts/format.ts'
import { type TextKey, text } from '../texts/texts.ts'

export const RANGE_NAMES: Readonly<Record<RangeName, TextKey>> = {
  price: 'filter.price',
  price_per_parcel: 'filter.price_per_parcel',
  rent: 'filter.rent',
  size: 'filter.size',
}

export const STATUS_NAMES: Readonly<Record<NonNullable<LandFilter['status']>, TextKey>> = {
  open: 'asset.sale',
  none: 'filter.not_offered',
  for_rent: 'rental.offers',
  rented: 'filter.rented',
  sold: 'filter.sold',
  never_sold: 'filter.never_sold',
}

/** What a group of filters keeps, in a few words. @param districts undefined until they are loaded */
export function groupText(
  group: FilterGroup,
  filter: LandFilter,
  districts: readonly District[] | undefined,
): string {
  switch (group) {
    case 'asset_type':
      return text(filter.asset_type === 'estate' ? 'asset.estate.many' : 'asset.parcel.many')
    case 'status':
      return text(STATUS_NAMES[filter.status!])
    case 'price':
    case 'price_per_parcel':
    case 'rent':
    case 'size':
      return rangeText(text(RANGE_NAMES[group]), filter[`min_${group}`], filter[`max_${group}`])
    case 'plaza':
      return rangeText(text('filter.plaza'), undefined, filter.max_plaza)
    case 'road':
      return rangeText(text('filter.road'), undefined, filter.max_road)
    case 'in_district': {
      const name = districts?.find(({ id }) => id === filter.in_district)?.name
      return name === undefined ? text('asset.district') : withoutTurns(name)
    }
    case 'area':
      return filter.nw === filter.se ? text('asset.parcel.numbered', { id: filter.nw! }) : text('filter.area')
    case 'owner':
      return text('filter.is', { name: text('asset.owner'), value: shortAddress(filter.owner!) })
    case 'q':
      return text('filter.words', { value: withoutTurns(filter.q!) })
  }
}

function rangeText(name: string, min: string | undefined, max: string | undefined): string {
  if (min === max) return text('filter.is', { name, value: written(min!) })
  if (min === undefined) return text('filter.most', { name, max: written(max!) })
  if (max === undefined) return text('filter.least', { name, min: written(min) })
  return text('filter.between', { name, min: written(min), max: written(max) })
}

function written(digits: string): string {
  return formatNumber(Number(digits), { maximumFractionDigits: 18 })
}
