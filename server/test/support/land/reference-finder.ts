import { encodeTokenId } from '@landpass/client/grid'
import { ZERO_ADDRESS } from '../../../src/land/records/assets.ts'
import type { ReferenceLand } from './reference-land.ts'
import { ESTATE_REGISTRY, LAND_REGISTRY } from './registries.ts'

/**
 * What `GET /v2/land` has to answer, worked out a second time and as plainly as possible: every asset as an object with all that
 * filters ask for, then `filter` and `sort`. Slow, and meant to be read beside docs/find-land.md.
 */
export function referenceLand(land: ReferenceLand, query: Query, nowMs: number): ReferencePage {
  return referencePage(assetsOf(land, nowMs), query)
}

/** The same of assets that several queries look at. */
export function referencePage(assets: readonly Asset[], query: Query): ReferencePage {
  const own = assets.find(({ name }) => name === query.neighbours_of)
  const filters = filtersOf(query, own)
  const sorted = assets
    .filter(({ isInside }) => query.inside_estates === 'true' || !isInside)
    .filter((asset) => filters.every((isKept) => isKept(asset)))
    .map((asset) => ({ asset, value: sortValue(asset, query) }))
    .sort((a, b) => compare(a.value, b.value, query))
  const rows = sorted.map(({ asset }) => asset)
  return {
    rows: rows.map(({ row }) => row),
    names: rows.map(({ name }) => name),
    // Worked out when it is read: most tests compare rows alone
    get values() {
      return sorted.map(({ value }) => JSON.stringify(value, withDigits))
    },
    get facets() {
      return facetsOf(rows)
    },
  }
}

export interface ReferencePage {
  readonly rows: readonly object[]
  /** `x,y`, or `estate:<id>`. */
  readonly names: readonly string[]
  /** What each row is sorted by. */
  readonly values: readonly string[]
  readonly facets: Readonly<Record<string, readonly { key: string; count: number }[]>>
}

export type Query = Readonly<Record<string, string | undefined>>

export interface Asset {
  readonly name: string
  readonly isInside: boolean
  readonly parcels: readonly Place[]
  readonly districts: readonly string[]
  readonly text: string
  /** Everyone who may change what is built there. */
  readonly updaters: readonly (string | null)[]
  readonly price: bigint | null
  readonly perParcel: bigint | null
  readonly listedAt: number | null
  readonly row: Row
}

interface Place {
  readonly x: number
  readonly y: number
}

type Row = ReturnType<typeof rowOf>

const WEI = 10n ** 18n
const ROOTS = ['1', '2', '5']

export function assetsOf(land: ReferenceLand, nowMs: number): Asset[] {
  const publications = grouped(land.publications, ({ shown }) => `${shown.asset_type} ${shown.asset_id}`)
  const bids = grouped(
    land.bids.map(({ shown }) => shown).filter(({ status }) => status === 'sold'),
    (bid) => `${bid.asset_type} ${bid.asset_id}`,
  )
  const bidsOn = (type: string, id: string) => bids.get(`${type} ${id}`) ?? []
  const estates = [...land.estates].sort((a, b) => Number(a.id) - Number(b.id))
  const parcels = [...land.parcels].sort((a, b) => a.x - b.x || b.y - a.y)
  const estateById = new Map(estates.map((estate) => [estate.id, estate]))
  const membersOf = grouped(parcels, ({ estate_id }) => estate_id ?? '')
  return [
    ...estates.flatMap((estate) => {
      const members = membersOf.get(estate.id)
      if (!members) return []
      const updaters = [estate.owner, ...rightsOf(estate)]
      const source = { ...estate, estate_id: estate.id, type: 'estate' as const, members, updaters }
      return assetOf(publications.get(`estate ${estate.id}`), bidsOn('estate', estate.id), source, nowMs)
    }),
    ...parcels.map((parcel) => {
      const estate = estateById.get(parcel.estate_id ?? '')
      const owner = estate ? estate.owner : parcel.owner
      const updaters = [owner, ...rightsOf(parcel), ...(estate ? rightsOf(estate) : [])]
      const source = { ...parcel, owner, type: 'parcel' as const, members: [parcel], updaters }
      return assetOf(publications.get(`parcel ${parcel.id}`), bidsOn('parcel', parcel.id), source, nowMs)
    }),
  ]
}

function grouped<One>(all: readonly One[], keyOf: (one: One) => string): Map<string, One[]> {
  const groups = new Map<string, One[]>()
  for (const one of all) {
    const group = groups.get(keyOf(one))
    if (group) group.push(one)
    else groups.set(keyOf(one), [one])
  }
  return groups
}

function rightsOf(asset: object): (string | null)[] {
  const { operator, update_operator } = asset as Record<'operator' | 'update_operator', string | null>
  return [operator, update_operator]
}

interface Source {
  readonly id: string
  readonly type: 'parcel' | 'estate'
  readonly owner: string | null
  readonly estate_id: string | null
  readonly data: { readonly name?: string; readonly description?: string }
  readonly members: ReferenceLand['parcels']
  readonly updaters: readonly (string | null)[]
}

function assetOf(
  all: readonly Publication[] = [],
  accepted: readonly ReferenceLand['bids'][number]['shown'][],
  asset: Source,
  nowMs: number,
): Asset {
  const isInside = asset.type === 'parcel' && asset.estate_id !== null
  const newestFirst = [...all].sort(
    (a, b) => b.shown.block_time_created_at - a.shown.block_time_created_at || b.key - a.key,
  )
  const open = isInside
    ? []
    : newestFirst.map(({ shown }) => shown).filter((one) => one.status === 'open' && one.expires_at > nowMs)
  const offer = open.reduce<(typeof open)[number] | undefined>(
    (best, one) => (best && wei(best.price) <= wei(one.price) ? best : one),
    undefined,
  )
  const sold = all
    .filter(({ shown }) => shown.status === 'sold')
    .sort((a, b) => a.key - b.key)
    .map(({ shown }) => ({
      price: shown.price,
      time: shown.block_time_updated_at ?? shown.block_time_created_at,
    }))
  const bought = accepted.map(({ price, block_time_updated_at }) => ({
    price,
    time: Number(block_time_updated_at),
  }))
  const sale = [...sold, ...bought].sort((a, b) => a.time - b.time).at(-1)
  const perParcel = offer ? wei(offer.price) / BigInt(asset.members.length) : null
  return {
    name: asset.type === 'estate' ? `estate:${asset.id}` : asset.id,
    isInside,
    parcels: asset.members,
    districts: [...new Set(asset.members.map(({ district_id }) => district_id).filter((id) => id !== null))],
    text: folded(`${asset.data.name ?? ''}\n${asset.data.description ?? ''}`),
    updaters: asset.updaters,
    price: offer ? wei(offer.price) : null,
    perParcel,
    listedAt: open[0]?.block_time_created_at ?? null,
    row: rowOf(asset, { offer, sale, perParcel }),
  }
}

type Publication = ReferenceLand['publications'][number]
type Shown = Publication['shown']

interface Trade {
  readonly offer: Shown | undefined
  readonly sale: { readonly price: unknown; readonly time: number } | undefined
  readonly perParcel: bigint | null
}

function rowOf(asset: Source, { offer, sale, perParcel }: Trade) {
  const { members } = asset
  const [xs, ys] = [members.map(({ x }) => x), members.map(({ y }) => y)]
  const first = members[0]!
  return {
    asset_type: asset.type,
    asset_id: asset.id,
    x: first.x,
    y: first.y,
    estate_id: asset.estate_id,
    name: asset.data.name || null,
    owner: asset.owner,
    size: members.length,
    width: Math.max(...xs) - Math.min(...xs) + 1,
    height: Math.max(...ys) - Math.min(...ys) + 1,
    district_id: first.district_id,
    plaza: nearest(members, 'plaza'),
    road: nearest(members, 'road'),
    offer: offer
      ? {
          source: 'order',
          price: mana(wei(offer.price)),
          currency: 'mana',
          price_usd: null,
          listed_at: offer.block_time_created_at,
          expires_at: offer.expires_at,
          tx_hash: offer.tx_hash,
        }
      : null,
    rental_offer: null,
    rent: null,
    last_sale: sale ? { price: mana(wei(sale.price)), time: sale.time } : null,
    price_per_parcel: perParcel === null ? null : mana(perParcel),
    token_id: asset.type === 'estate' ? asset.id : encodeTokenId(first).toString(),
    contract: asset.type === 'estate' ? ESTATE_REGISTRY : LAND_REGISTRY,
  }
}

function nearest(members: ReferenceLand['parcels'], kind: 'plaza' | 'road'): number | null {
  const distances = members.flatMap(({ tags }) => {
    const { proximity } = tags as { proximity?: Record<string, { distance: number } | undefined> }
    return proximity?.[kind]?.distance ?? []
  })
  return distances.length === 0 ? null : Math.min(...distances)
}

/** The filters that a query asks for. */
function filtersOf(query: Query, own: Asset | undefined): readonly ((asset: Asset) => boolean)[] {
  const words = (name: string) => new Set(query[name]?.split(','))
  const [types, statuses, districts] = [words('asset_type'), [...words('status')], words('district')]
  const number = (name: string) => (query[name] === undefined ? undefined : Number(query[name]))
  const within = (name: string, read: (asset: Asset) => number | null): Filter => {
    const [min, max] = [number(`min_${name}`), number(`max_${name}`)]
    return [
      [`min_${name}`, `max_${name}`],
      (asset) => {
        const value = read(asset)
        return value !== null && value >= (min ?? value) && value <= (max ?? value)
      },
    ]
  }
  const priced = (name: string, read: (asset: Asset) => bigint | null): Filter => {
    const [min, max] = [query[`min_${name}`], query[`max_${name}`]]
    return [
      [`min_${name}`, `max_${name}`],
      (asset) => {
        const value = read(asset)
        return value !== null && value >= wei(min ?? mana(value)) && value <= wei(max ?? mana(value))
      },
    ]
  }
  const [nw, se, center, radius] = [
    placeOf(query.nw),
    placeOf(query.se),
    placeOf(query.center),
    number('radius'),
  ]
  const hasStatus = ({ row }: Asset, status: string) =>
    (status === 'open' && row.offer !== null) ||
    (status === 'none' && row.offer === null) ||
    (status === 'sold' && row.last_sale !== null) ||
    (status === 'never_sold' && row.last_sale === null)
  const filters: readonly Filter[] = [
    [['asset_type'], ({ row }) => types.has(row.asset_type)],
    [['status'], (asset) => statuses.some((status) => hasStatus(asset, status))],
    priced('price', ({ price }) => price),
    priced('price_per_parcel', ({ perParcel }) => perParcel),
    [['currency'], ({ row }) => row.offer !== null && words('currency').has('mana')],
    [['source'], ({ row }) => row.offer !== null && words('source').has('order')],
    [['min_rent', 'max_rent', 'lessor', 'tenant'], () => false],
    within('size', ({ row }) => row.size),
    within('width', ({ row }) => row.width),
    within('height', ({ row }) => row.height),
    within('plaza', ({ row }) => row.plaza),
    within('road', ({ row }) => row.road),
    [
      ['nw', 'se'],
      ({ parcels }) =>
        !nw || !se || parcels.some(({ x, y }) => x >= nw.x && x <= se.x && y <= nw.y && y >= se.y),
    ],
    [
      ['radius'],
      ({ parcels }) =>
        !center || parcels.some(({ x, y }) => (x - center.x) ** 2 + (y - center.y) ** 2 <= radius! ** 2),
    ],
    [['district'], (asset) => asset.districts.some((id) => districts.has(id))],
    [['neighbours_of'], (asset) => !query.neighbours_of || isNeighbour(asset, own!)],
    [['owner'], ({ row }) => row.owner === query.owner],
    [
      ['may_update'],
      ({ updaters }) => query.may_update !== ZERO_ADDRESS && updaters.includes(query.may_update!),
    ],
    [['listed_since'], ({ listedAt }) => (listedAt ?? -1) >= Number(query.listed_since)],
    [['sold_since'], ({ row }) => (row.last_sale?.time ?? -1) >= Number(query.sold_since)],
    [['ends_before'], ({ row }) => row.offer !== null && row.offer.expires_at < Number(query.ends_before)],
    [['q'], ({ text }) => searchedWords(query.q!).every((word) => text.includes(word))],
  ]
  return filters
    .filter(([parameters]) => parameters.some((name) => query[name] !== undefined))
    .map(([, isKept]) => isKept)
}

/** What an asset has to be where a query has one of these parameters. */
type Filter = readonly [parameters: readonly string[], isKept: (asset: Asset) => boolean]

function isNeighbour(asset: Asset, own: Asset): boolean {
  const holdsOwn = own.parcels.every(({ x, y }) => asset.parcels.some((one) => one.x === x && one.y === y))
  const isPartOfOwn = asset.parcels.every(({ x, y }) => own.parcels.some((one) => one.x === x && one.y === y))
  if (holdsOwn || isPartOfOwn) return false
  return asset.parcels.some((a) => own.parcels.some((b) => Math.abs(a.x - b.x) + Math.abs(a.y - b.y) === 1))
}

const DESCENDING = ['listed_at', 'sold_at']

type SortValue = number | bigint | string | null

function compare(left: SortValue, right: SortValue, { sort_by = 'listed_at', sort_order }: Query): number {
  const sign = (sort_order ?? (DESCENDING.includes(sort_by) ? 'desc' : 'asc')) === 'asc' ? 1 : -1
  if (left === right) return 0
  if (left === null || right === null) return left === null ? 1 : -1
  return left < right ? -sign : sign
}

/** Equal values stay in the order of assets: estates by id, then parcels by x, then from north to south. */
function sortValue(asset: Asset, { sort_by = 'listed_at', center }: Query): SortValue {
  const { row } = asset
  switch (sort_by) {
    case 'price':
      return asset.price
    case 'price_per_parcel':
      return asset.perParcel
    case 'size':
      return row.size
    case 'plaza':
      return row.plaza
    case 'road':
      return row.road
    case 'name':
      return row.name === null ? null : folded(row.name)
    case 'expires_at':
      return row.offer?.expires_at ?? null
    case 'listed_at':
      return asset.listedAt
    case 'sold_at':
      return row.last_sale?.time ?? null
    case 'distance': {
      const from = placeOf(center)!
      return Math.min(...asset.parcels.map(({ x, y }) => (x - from.x) ** 2 + (y - from.y) ** 2))
    }
    default:
      return null
  }
}

function facetsOf(assets: readonly Asset[]): ReferencePage['facets'] {
  const distance = (name: 'plaza' | 'road') =>
    counts(assets, ['0', '1-2', '3-5', '6-10', 'above', 'none'], ({ row }) => {
      const value = row[name]
      if (value === null) return ['none']
      return [value === 0 ? '0' : value < 3 ? '1-2' : value < 6 ? '3-5' : value < 11 ? '6-10' : 'above']
    })
  const bounds = [
    '0',
    ...Array.from({ length: 30 }, (_, i) => ROOTS.map((root) => root + '0'.repeat(i))).flat(),
  ]
  const priceKeys = bounds.slice(0, -1).map((bound, i) => `${bound}-${bounds[i + 1]}`)
  const boundsWei = bounds.map((bound) => BigInt(bound) * WEI)
  const price = (of: (asset: Asset) => bigint | null) =>
    counts(assets, [...priceKeys, 'none'], (asset) => {
      const value = of(asset)
      if (value === null) return ['none']
      return [priceKeys[boundsWei.findLastIndex((bound) => bound <= value)]!]
    })
  const districts = [...new Set(assets.flatMap((asset) => asset.districts))].sort()
  const byDistrict = counts(assets, [...districts, 'none'], (asset) =>
    asset.districts.length === 0 ? ['none'] : asset.districts,
  )
  const last = (key: string) => Number(key === 'none')
  return {
    price: price((asset) => asset.price),
    price_per_parcel: price((asset) => asset.perParcel),
    size: counts(assets, ['1', '2-3', '4-9', '10-24', '25+'], ({ row: { size } }) => [
      size === 1 ? '1' : size < 4 ? '2-3' : size < 10 ? '4-9' : size < 25 ? '10-24' : '25+',
    ]),
    plaza: distance('plaza'),
    road: distance('road'),
    district: byDistrict.sort((a, b) => last(a.key) - last(b.key) || b.count - a.count),
    asset_type: counts(assets, ['parcel', 'estate'], ({ row }) => [row.asset_type]),
  }
}

function counts(
  assets: readonly Asset[],
  keys: readonly string[],
  keysOf: (asset: Asset) => readonly string[],
) {
  const found = new Map<string, number>()
  for (const key of assets.flatMap(keysOf)) found.set(key, (found.get(key) ?? 0) + 1)
  return keys.flatMap((key) => {
    const count = found.get(key)
    return count === undefined ? [] : [{ key, count }]
  })
}

function placeOf(text: string | undefined): Place | undefined {
  if (text === undefined) return undefined
  const [x = '', y = ''] = text.split(',')
  return { x: Number(x), y: Number(y) }
}

function wei(price: unknown): bigint {
  const [whole = '', decimals = ''] = String(price).split('.')
  return BigInt(whole + decimals.padEnd(18, '0'))
}

function mana(amount: bigint): string {
  const decimals = String(amount % WEI)
    .padStart(18, '0')
    .replace(/0+$/, '')
  return decimals === '' ? String(amount / WEI) : `${amount / WEI}.${decimals}`
}

/** Without punctuation around the words; a text of punctuation alone stays. */
function searchedWords(text: string): readonly string[] {
  const words = folded(text).split(' ')
  const bare = words.flatMap((word) => word.match(/[^\p{P}](?:.*[^\p{P}])?/u)?.[0] ?? [])
  return bare.length === 0 ? words : bare
}

function folded(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .toUpperCase()
    .trim()
}

function withDigits(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
