import type { Place, View } from '../map/map-types.ts'
import {
  CLOSE_ZOOM,
  FIRST_PAGE,
  isAddressList,
  LAYERS,
  type LayerName,
  LISTS,
  type ListQuery,
  type Selection,
  SORT_ORDERS,
  SORTS,
} from '../state/explore-state.ts'
import { FILTER_NAMES, type LandFilter, readFilter } from '../state/land-filter.ts'
import { findTypedAddress } from '../state/typed-place.ts'
import { findLanguage, type Language } from '../texts/languages.ts'
import type { Theme } from '../theme.ts'

/**
 * Everything that the map page shows, as the address bar has it:
 *
 *   at=12,-34   the middle of the screen       layer=price       unless it is the first layer, on_sale
 *   zoom=18     CSS pixels a parcel            mine=0x…          whose land the layer mine shows
 *   parcel=12,-34 or estate=7: what is selected    district=<id>     which one the layer districts brings out
 *   list=land  of=0x…  sort=price.asc  page=2      the list that is open, whose, and how
 *   status=open  max_price=500 …                   which land the list has, by the names of land-filter.ts
 *   lang=es  theme=dark
 */
export interface Permalink {
  /** Undefined: the whole world. */
  readonly view: View | undefined
  readonly selection: Selection | undefined
  readonly layer: LayerName
  readonly mine: string | undefined
  readonly district: string | undefined
  readonly list: ListQuery | undefined
  readonly filter: LandFilter
  /** Undefined: the browser's language. */
  readonly language: Language | undefined
  /** Undefined: the system's theme. */
  readonly theme: Theme | undefined
}

const MAX_PLACE = 1_000_000
const ZOOMS = { min: 0.05, max: 500 }
const MAX_PAGE = 1_000_000

/**
 * The query text of a link. Parts with their default value are left out; without any part it is empty, else it begins
 * with `?`.
 *
 * @example
 * permalinkText(parsePermalink('?zoom=18&at=12,-34&page=x')) // '?at=12,-34&zoom=18'
 */
export function permalinkText({ view, selection, ...link }: Permalink): string {
  const parts: Record<string, string | undefined> = {
    at: view && `${short(view.x)},${short(view.y)}`,
    zoom: view && short(view.zoom),
    parcel: selection?.type === 'parcel' ? `${selection.x},${selection.y}` : undefined,
    estate: selection?.type === 'estate' ? selection.id : undefined,
    layer: link.layer === LAYERS[0] ? undefined : link.layer,
    mine: link.mine,
    district: link.district,
    ...listParts(link.list),
    ...filterParts(link.filter),
    lang: link.language,
    theme: link.theme,
  }
  const said = queryText(parts)
  return said === '' ? '' : `?${said}`
}

/**
 * Reads a query text from any source. A parameter with an impossible value is ignored, and the others are still read.
 * Never throws.
 */
export function parsePermalink(query: string): Permalink {
  const parameters = new URLSearchParams(query)
  const say = (name: string) => parameters.get(name) ?? ''
  const selection = findSelection(say('parcel'), say('estate'))
  return {
    view: findView(say('at'), say('zoom'), selection),
    selection,
    layer: oneOf(LAYERS, say('layer')) ?? LAYERS[0],
    mine: findTypedAddress(say('mine')),
    district: findDistrict(say('district')),
    list: findList(say),
    filter: readFilter(say),
    language: findLanguage(say('lang')),
    theme: oneOf(['light', 'dark'], say('theme')),
  }
}

/**
 * The part of a link that makes a step in the browser's history: all but the position of the map and the preferences.
 */
export function stepText(link: Permalink): string {
  return permalinkText({ ...link, view: undefined, language: undefined, theme: undefined })
}

/**
 * The filters of a link alone, without `?`.
 *
 * @example
 * filterText({ status: 'open', q: 'a b' }) // 'status=open&q=a%20b'
 */
export function filterText(filter: LandFilter): string {
  return queryText(filterParts(filter))
}

/** The way back of {@link filterText}, from any source. */
export function filterOf(text: string): LandFilter {
  const parameters = new URLSearchParams(text)
  return readFilter((name) => parameters.get(name) ?? '')
}

function queryText(parts: Readonly<Record<string, string | undefined>>): string {
  const said = Object.entries(parts).filter(([, value]) => value !== undefined && value !== '')
  return said.map(([name, value]) => `${name}=${value}`).join('&')
}

/** Only text is encoded: the other values have no letters that an address would change. */
function filterParts(filter: LandFilter): Record<string, string | undefined> {
  return Object.fromEntries(
    FILTER_NAMES.map((name) => [
      name,
      name === 'q' ? filter.q && encodeURIComponent(filter.q) : filter[name],
    ]),
  )
}

function listParts(list: ListQuery | undefined): Record<string, string | undefined> {
  if (!list) return {}
  const isSorted = list.name === 'land'
  const isFirst = list.sortBy === FIRST_PAGE.sortBy && list.sortOrder === FIRST_PAGE.sortOrder
  return {
    list: list.name,
    of: isAddressList(list.name) ? list.address : undefined,
    sort: isSorted && !isFirst ? `${list.sortBy}.${list.sortOrder}` : undefined,
    page: list.page === 1 ? undefined : `${list.page}`,
  }
}

function findList(say: (name: string) => string): ListQuery | undefined {
  const name = oneOf(LISTS, say('list'))
  if (!name) return undefined
  const address = isAddressList(name) ? findTypedAddress(say('of')) : undefined
  const [sortBy = '', sortOrder = ''] = name === 'land' ? say('sort').split('.') : []
  const page = name === 'sales' ? undefined : findWhole(say('page'), MAX_PAGE)
  return {
    name,
    ...(address !== undefined && { address }),
    page: page && page > 0 ? page : FIRST_PAGE.page,
    sortBy: oneOf(SORTS, sortBy) ?? FIRST_PAGE.sortBy,
    sortOrder: oneOf(SORT_ORDERS, sortOrder) ?? FIRST_PAGE.sortOrder,
  }
}

/** Undefined unless there is a place: `at`, or the parcel of a link that has a zoom alone. */
function findView(at: string, zoom: string, selection: Selection | undefined): View | undefined {
  const near = findZoom(zoom)
  const parcel = near !== undefined && selection?.type === 'parcel' ? selection : undefined
  const place = findPlace(at) ?? parcel
  return place && { x: place.x, y: place.y, zoom: near ?? CLOSE_ZOOM }
}

function findPlace(text: string): Place | undefined {
  const [x, y, ...more] = text.split(',').map(findNumber)
  if (x === undefined || y === undefined || more.length > 0) return undefined
  return Math.abs(x) > MAX_PLACE || Math.abs(y) > MAX_PLACE ? undefined : { x, y }
}

function findZoom(text: string): number | undefined {
  const zoom = findNumber(text)
  return zoom === undefined || zoom < ZOOMS.min || zoom > ZOOMS.max ? undefined : zoom
}

function findSelection(parcel: string, estate: string): Selection | undefined {
  const [x, y, ...more] = parcel.split(',').map((part) => findWhole(part, MAX_PLACE))
  if (x !== undefined && y !== undefined && more.length === 0) return { type: 'parcel', x, y }
  return /^\d{1,78}$/.test(estate) ? { type: 'estate', id: estate } : undefined
}

function findDistrict(text: string): string | undefined {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text) ? text : undefined
}

function findNumber(text: string): number | undefined {
  return /^-?\d{1,7}(\.\d{1,6})?$/.test(text) ? Number(text) + 0 : undefined
}

function findWhole(text: string, limit: number): number | undefined {
  const number = /^-?\d{1,7}$/.test(text) ? Number(text) + 0 : undefined
  return number !== undefined && Math.abs(number) <= limit ? number : undefined
}

/** Two decimals: at every zoom at which parcels can be told apart, a hundredth of a parcel is less than a pixel. */
function short(value: number): string {
  return `${Math.round(value * 100) / 100 + 0}`
}

function oneOf<Name extends string>(names: readonly Name[], text: string): Name | undefined {
  return names.find((name) => name === text)
}
