import type { land } from '@landpass/client'
import type { Place } from '../map/map-types.ts'
import { findTypedAddress, findTypedPlace } from './typed-place.ts'

/**
 * Which land the page shows: parameters of `/v2/land` (docs/find-land.md) by name, each as text. What is left out keeps
 * everything. `in_district` is the server's `district`: in the address of the page that name is the selected one.
 */
export type LandFilter = {
  readonly [Name in FilterName]?: NonNullable<ReturnType<(typeof READERS)[Name]>>
}

export const ASSET_TYPES = ['parcel', 'estate'] as const
export const STATUSES = ['open', 'for_rent', 'rented', 'sold', 'never_sold', 'none'] as const

/** Ranges have a lower and an upper limit, and may have one of them. */
export const RANGES = ['price', 'price_per_parcel', 'rent', 'size'] as const
export type RangeName = (typeof RANGES)[number]

/** Code points that the server takes as text. */
const MAX_TEXT = 100

/** What each value must look like; undefined for text that does not. In the order of the address. */
const READERS = {
  asset_type: oneOf(ASSET_TYPES),
  status: oneOf(STATUSES),
  min_price: mana,
  max_price: mana,
  min_price_per_parcel: mana,
  max_price_per_parcel: mana,
  min_rent: mana,
  max_rent: mana,
  min_size: whole,
  max_size: whole,
  max_plaza: whole,
  max_road: whole,
  in_district: (text: string) =>
    /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text) ? text : undefined,
  nw: place,
  se: place,
  owner: findTypedAddress,
  q: (text: string) => [...text.trim()].slice(0, MAX_TEXT).join('') || undefined,
} as const satisfies Readonly<Record<string, (text: string) => string | undefined>>

export type FilterName = keyof typeof READERS
export const FILTER_NAMES = Object.keys(READERS) as FilterName[]

/** Filters that are one thing for the reader: they are shown, and removed, together. */
const GROUPS = {
  asset_type: ['asset_type'],
  status: ['status'],
  price: ['min_price', 'max_price'],
  price_per_parcel: ['min_price_per_parcel', 'max_price_per_parcel'],
  rent: ['min_rent', 'max_rent'],
  size: ['min_size', 'max_size'],
  plaza: ['max_plaza'],
  road: ['max_road'],
  in_district: ['in_district'],
  area: ['nw', 'se'],
  owner: ['owner'],
  q: ['q'],
} as const satisfies Readonly<Record<string, readonly FilterName[]>>
export type FilterGroup = keyof typeof GROUPS

/**
 * Reads filters from any source: invalid values are left out, and limits in the wrong order change places.
 *
 * @example
 * readFilter((name) => ({ min_price: '9', max_price: '5', status: 'x' })[name]) // { min_price: '5', max_price: '9' }
 */
export function readFilter(say: (name: FilterName) => string | undefined): LandFilter {
  const given: { [Name in FilterName]?: string } = {}
  for (const name of FILTER_NAMES) {
    const value = READERS[name](say(name) ?? '')
    if (value !== undefined) given[name] = value
  }
  for (const range of RANGES) {
    const [min, max] = [given[`min_${range}`], given[`max_${range}`]]
    if (min !== undefined && max !== undefined && isAbove(min, max)) {
      given[`min_${range}`] = max
      given[`max_${range}`] = min
    }
  }
  const { nw, se, ...others } = given
  const filter = nw === undefined || se === undefined ? others : { ...others, ...cornersOf(nw, se) }
  return filter as LandFilter // every value comes from its reader
}

/** The groups of which a filter has something, in the order of {@link FILTER_NAMES}. */
export function groupsOf(filter: LandFilter): readonly FilterGroup[] {
  const groups = Object.keys(GROUPS) as FilterGroup[]
  return groups.filter((group) => GROUPS[group].some((name) => filter[name] !== undefined))
}

export function withoutGroup(filter: LandFilter, group: FilterGroup): LandFilter {
  const names: readonly string[] = GROUPS[group]
  return Object.fromEntries(Object.entries(filter).filter(([name]) => !names.includes(name)))
}

/** Keeps the parcel at a place, or the estate around it. */
export function onePlace({ x, y }: Place): LandFilter {
  return { nw: `${x},${y}`, se: `${x},${y}` }
}

/** Whether only a parcel, or the estate around it, can fit: its area is one place, and no other filter is on but the kind. */
export function isOnePlace(filter: LandFilter): boolean {
  const others = groupsOf(filter).filter((group) => group !== 'asset_type')
  return filter.nw !== undefined && filter.nw === filter.se && others.length === 1
}

/** Whether land to rent is looked for. */
export function isOfRents({ status, min_rent, max_rent }: LandFilter): boolean {
  return status === 'for_rent' || min_rent !== undefined || max_rent !== undefined
}

/** The filters as a query of the client. */
export function serverQuery({ in_district: district, nw, se, ...others }: LandFilter): LandQuery {
  return {
    ...others,
    ...(district !== undefined && { district }),
    ...(nw !== undefined && se !== undefined && { nw: placeOf(nw), se: placeOf(se) }),
  }
}
type LandQuery = NonNullable<Parameters<typeof land.landCells>[0]>

/** Compares decimal texts exactly: a number has too few digits. */
function isAbove(a: string, b: string): boolean {
  const [[wholeA = '', partA = ''], [wholeB = '', partB = '']] = [a.split('.'), b.split('.')]
  const difference = BigInt(wholeA) - BigInt(wholeB)
  return difference === 0n ? partA.padEnd(18, '0') > partB.padEnd(18, '0') : difference > 0n
}

/** The north-west and south-east corner of the area between any two opposite ones. */
export function cornersOf(a: string, b: string): Required<Pick<LandFilter, 'nw' | 'se'>> {
  const [first, second] = [placeOf(a), placeOf(b)]
  return {
    nw: `${Math.min(first.x, second.x)},${Math.max(first.y, second.y)}`,
    se: `${Math.max(first.x, second.x)},${Math.min(first.y, second.y)}`,
  }
}

/** @param text `x,y` as {@link place} writes it */
function placeOf(text: string): Place {
  const [x = 0, y = 0] = text.split(',').map(Number)
  return { x, y }
}

function oneOf<Word extends string>(words: readonly Word[]) {
  return (text: string) => words.find((word) => word === text)
}

function mana(text: string): string | undefined {
  return /^\d{1,15}(\.\d{1,18})?$/.test(text) ? text : undefined
}

function whole(text: string): string | undefined {
  return /^\d{1,6}$/.test(text) ? text : undefined
}

function place(text: string): string | undefined {
  const found = findTypedPlace(text)
  return found && `${found.x},${found.y}`
}
