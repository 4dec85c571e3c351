import Type, { type Static, type TSchema } from 'typebox'
import { invalidParameter } from '../../http/validation.ts'
import { ASSET_TYPES, type AssetName, type AssetType } from '../../land/records/assets.ts'
import { oneOf } from '../../schema-parts.ts'
import {
  addressQuery,
  assetQuery,
  manaRange,
  type PlaceFilter,
  placeQuery,
  type Range,
  readAssetOf,
  readManaRange,
  readPlaces,
  readTimeOf,
  readWholeRange,
  timeQuery,
  wholeRange,
  wordsOf,
  wordsQuery,
} from '../common/land-filters.ts'

/** The parameters of `/v2/sales` and `/v2/stats` (docs/sales.md), as text and as what they mean. */

const SOURCES = ['order', 'bid', 'trade', 'auction'] as const
type Source = (typeof SOURCES)[number]
export const GROUPINGS = [
  'total',
  'day',
  'week',
  'month',
  'district',
  'plaza',
  'road',
  'size',
  'asset_type',
] as const
export type Grouping = (typeof GROUPINGS)[number]
const SALE_SORTS = ['time', 'price'] as const

/** Limits that `/v2/land` has too, with another meaning: so they have other names in openapi.json. */
function ofSales<Limits extends Readonly<Record<string, TSchema>>>(limits: Limits): Limits {
  const named = Object.entries(limits).map(([name, { title, ...limit }]: [string, { title?: string }]) => [
    name,
    Type.Optional({ ...limit, title: title?.replace('Land', 'Sale') }),
  ])
  return Object.fromEntries(named) as Limits
}

export const saleFilterQuery = {
  from: timeQuery('SoldFrom', 'Sold then or later.'),
  to: timeQuery('SoldTo', 'Sold before.'),
  asset_type: wordsQuery(ASSET_TYPES, { title: 'SaleAssetTypes', description: 'Both if left out.' }),
  asset: assetQuery('SoldAsset', 'Sales of this asset.'),
  ...placeQuery,
  ...wholeRange('plaza', 'distance of the nearest plaza, in parcels'),
  ...wholeRange('road', 'distance of the nearest road, in parcels'),
  ...ofSales(wholeRange('size', 'number of parcels that were sold')),
  ...ofSales(manaRange('price', 'price, in MANA')),
  buyer: addressQuery('SaleBuyer', 'Who bought it.'),
  seller: addressQuery('SaleSeller', 'Who sold it.'),
  source: wordsQuery(SOURCES, {
    title: 'SaleSource',
    description:
      'order: an offer that a marketplace stored. bid: an accepted bid. trade: an offer signed off the chain. auction: the second one of parcels; of the first no times are known.',
  }),
}
export const saleSortQuery = {
  sort_by: Type.Optional(oneOf(SALE_SORTS, { title: 'SaleSort', description: 'time if left out.' })),
  sort_order: Type.Optional(
    oneOf(['asc', 'desc'], {
      title: 'SaleSortOrder',
      description: 'If left out: desc for time, asc for price.',
    }),
  ),
}
const filterObject = Type.Object(saleFilterQuery)
export type SaleFilterQuery = Static<typeof filterObject>

/** Which sales are meant. What is undefined keeps everything. */
export interface SaleFilter extends PlaceFilter {
  readonly fromMs: number | undefined
  readonly toMs: number | undefined
  readonly assetTypes: readonly AssetType[] | undefined
  readonly asset: AssetName | undefined
  readonly plaza: Range<number> | undefined
  readonly road: Range<number> | undefined
  readonly size: Range<number> | undefined
  /** In wei. */
  readonly price: Range<bigint> | undefined
  readonly buyer: string | undefined
  readonly seller: string | undefined
  readonly sources: readonly Source[] | undefined
}

/** @throws {AppError} `invalid_parameter` also for what contradicts itself */
export function readSaleFilter(query: SaleFilterQuery): SaleFilter {
  const places = readPlaces(query)
  if (places.center && places.radius === undefined)
    throw invalidParameter('radius', undefined, 'given beside center')
  const [fromMs, toMs] = [readTimeOf('from', query.from), readTimeOf('to', query.to)]
  if (fromMs !== undefined && toMs !== undefined && fromMs > toMs)
    throw invalidParameter('from', query.from, `not after to (${query.to})`)
  const assetTypes = wordsOf<AssetType>(query.asset_type)
  const asset = readAssetOf('asset', query.asset)
  if (asset && assetTypes && !assetTypes.includes(asset.type))
    throw invalidParameter('asset', query.asset, `of the kind in asset_type (${query.asset_type})`)
  return {
    ...places,
    fromMs,
    toMs,
    assetTypes,
    asset,
    plaza: readWholeRange(query, 'plaza'),
    road: readWholeRange(query, 'road'),
    size: readWholeRange(query, 'size'),
    price: readManaRange(query, 'price'),
    buyer: query.buyer?.toLowerCase(),
    seller: query.seller?.toLowerCase(),
    sources: wordsOf(query.source),
  }
}
