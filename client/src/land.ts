import { type Call, pathOf, postFor, read, readAs } from './call.ts'
import { type Coord, coordText } from './grid/coord.ts'
import type { AssetType, Bid, Mortgage, Operations, Publication, Tile } from './types.ts'

/**
 * The calls of the land interface: parcels, estates, publications and map images. Each function describes one request,
 * which a client sends: `client.send(land.parcel({ x: 10, y: 20 }))`.
 *
 * Addresses of players and owners may be written in any letter case. Prices are in MANA.
 */

/** The status of publications and bids. */
export type OfferStatus = Publication['status'] & Bid['status']
export type MortgageStatus = Mortgage['status']
export type SortBy = NonNullable<QueryOf<'GET /marketplace'>['sort_by']>
export type SortOrder = NonNullable<QueryOf<'GET /marketplace'>['sort_order']>
export type TileField = keyof Tile
type TileType = NonNullable<Tile['type']>

type DataOf<Name extends keyof Operations> = Operations[Name]['data']
type QueryOf<Name extends keyof Operations> = Operations[Name] extends { query?: infer Query }
  ? NonNullable<Query>
  : never
/** One value or several of them. */
type OneOrMore<Value> = Value | readonly Value[]
/** A query whose `status` is one or more names instead of text with commas. */
type WithStatus<Query, Status> = Omit<Query, 'status'> & { readonly status?: OneOrMore<Status> }

/** Corners included. */
export interface Corners {
  /** North-west. */
  readonly nw: Coord
  /** South-east. */
  readonly se: Coord
}

export type OfferQuery = WithStatus<QueryOf<'GET /estates'>, OfferStatus>
export type MarketQuery = WithStatus<QueryOf<'GET /marketplace'>, OfferStatus>
export type BidQuery = WithStatus<QueryOf<'GET /parcels/{x}/{y}/bids'>, OfferStatus | 'all'>

// Parcels

/** One parcel, by its coordinates. @throws {LandpassError} `parcel_not_found` */
export const parcel = (place: Coord): Call<DataOf<'GET /parcels/{x}/{y}'>> => read(parcelPath(place))

/** One parcel, by its token id: a number, its digits, or `0x` and hex digits. @throws {LandpassError} `parcel_not_found` */
export const parcelOfToken = (tokenId: bigint | string): Call<DataOf<'GET /parcels/{tokenId}'>> =>
  read(pathOf`/v1/parcels/${tokenId}`)

/** The token id of a parcel, in hex. `encodeTokenId` of `@landpass/client/grid` computes it without a request. */
export const parcelTokenId = (place: Coord): Call<DataOf<'GET /parcels/{x}/{y}/encodedId'>> =>
  read(`${parcelPath(place)}/encodedId`)

/** A page of parcels with a publication of a status: `open` if left out. */
export const parcels = (query: OfferQuery = {}): Call<ParcelPage> => read('/v1/parcels', query)
/** A page has `limit`, `offset` and `cursor`; the parcels of an area have no pages. */
export type ParcelPage = Required<DataOf<'GET /parcels'>>

/** All parcels of an area, whether for sale or not. */
export const parcelsInArea = (area: Corners): Call<Pick<DataOf<'GET /parcels'>, 'parcels' | 'total'>> =>
  read('/v1/parcels', cornerTexts(area))

/** All parcels that an address owns; with a status only those with a publication of that status. */
export const parcelsOf = (
  address: string,
  query: StatusQuery<OfferStatus> = {},
): Call<DataOf<'GET /addresses/{address}/parcels'>> => read(`${addressPath(address)}/parcels`, query)

/** A random parcel without an owner. @throws {LandpassError} `parcel_not_found` if there is none */
export const availableParcel = (): Call<DataOf<'GET /parcels/available'>> => read('/v1/parcels/available')

/** The number of parcels without an owner; those of districts, roads and plazas are not counted. */
export const availableParcelCount = (): Call<DataOf<'GET /parcels/availableCount'>> =>
  read('/v1/parcels/availableCount')

// Estates

/** One estate. @throws {LandpassError} `estate_not_found` */
export const estate = (id: string): Call<DataOf<'GET /estates/{id}'>> => read(estatePath(id))

/** A page of estates with a publication of a status: `open` if left out. */
export const estates = (query: OfferQuery = {}): Call<DataOf<'GET /estates'>> => read('/v1/estates', query)

/** All estates that an address owns; with a status only those with a publication of that status. */
export const estatesOf = (
  address: string,
  query: StatusQuery<OfferStatus> = {},
): Call<DataOf<'GET /addresses/{address}/estates'>> => read(`${addressPath(address)}/estates`, query)

// Publications and offers

/** A page of parcels and estates with a publication of a status: `open` if left out. */
export const marketplace = (query: MarketQuery = {}): Call<DataOf<'GET /marketplace'>> =>
  read('/v1/marketplace', query)

/** The prices of all offers, column by column: docs/offers.md. */
export const offers = (): Call<DataOf<'GET /v2/offers'>> => read('/v2/offers')

/** The offers of a parcel, also those that cannot be accepted now, and why. */
export const parcelOffers = (place: Coord): Call<DataOf<'GET /v2/parcels/{x}/{y}/offers'>> =>
  read(`/v2/parcels/${place.x}/${place.y}/offers`)

/** The offers of an estate, also those that cannot be accepted now, and why. */
export const estateOffers = (id: string): Call<DataOf<'GET /v2/estates/{id}/offers'>> =>
  read(`/v2/estates/${encodeURIComponent(id)}/offers`)

/** The offers to rent a parcel, also those that cannot be accepted now, and why. */
export const parcelRentalOffers = (place: Coord): Call<DataOf<'GET /v2/parcels/{x}/{y}/rental-offers'>> =>
  read(`/v2/parcels/${place.x}/${place.y}/rental-offers`)

/** The offers to rent an estate, also those that cannot be accepted now, and why. */
export const estateRentalOffers = (id: string): Call<DataOf<'GET /v2/estates/{id}/rental-offers'>> =>
  read(`/v2/estates/${encodeURIComponent(id)}/rental-offers`)

/** `limit` is another name of `first`. */
export type OrdersQuery = QueryOf<'GET /orders'> & { readonly limit?: number }

/**
 * Open offers to sell in the shape of public marketplace servers: docs/chain.md.
 *
 * @example
 * for await (const { price } of rows(client, (page) => land.orders({ sortBy: 'cheapest', ...page }))) console.log(price)
 */
export const orders = ({ limit, ...query }: OrdersQuery = {}): Call<DataOf<'GET /orders'>> =>
  readAs('json', '/v1/orders', limit === undefined ? query : { ...query, first: limit })

/** A signed offer to sell in the shape of those servers. @throws {LandpassError} `publication_not_found` */
export const trade = (id: string): Call<DataOf<'GET /trades/{id}'>> => read(pathOf`/v1/trades/${id}`)

/** Open offers to rent in the shape of public rentals servers: at most 100 on a page, also for `rows`. */
export const rentalListings = (
  query: QueryOf<'GET /rentals-listings'> = {},
): Call<DataOf<'GET /rentals-listings'>> => read('/v1/rentals-listings', query)

/** One publication, by the hash of its transaction. @throws {LandpassError} `publication_not_found` */
export const publication = (txHash: string): Call<DataOf<'GET /publications/{txHash}'>> =>
  read(pathOf`/v1/publications/${txHash}`)

/** All publications of a parcel, newest first. */
export const parcelPublications = (place: Coord): Call<DataOf<'GET /parcels/{x}/{y}/publications'>> =>
  read(`${parcelPath(place)}/publications`)

/** All publications of an estate, newest first. */
export const estatePublications = (id: string): Call<DataOf<'GET /estates/{id}/publications'>> =>
  read(`${estatePath(id)}/publications`)

/** All publications of a parcel (`x,y`) or an estate, newest first. */
export const assetPublications = (
  id: string,
  query: QueryOf<'GET /assets/{id}/publications'> = {},
): Call<DataOf<'GET /assets/{id}/publications'>> => read(`${assetPath(id)}/publications`, query)

// Sales, values and rights

export type SalesQuery = Partial<QueryOf<'GET /v2/sales'>>

/**
 * A page of sales, the newest first: docs/sales.md. A cursor has all of the query but the limit.
 *
 * @example
 * for await (const sale of rows(client, (page) => land.sales({ asset_type: 'estate', ...page }))) console.log(sale.price)
 */
export const sales = ({ limit, cursor, ...query }: SalesQuery = {}): Call<DataOf<'GET /v2/sales'>> =>
  read('/v2/sales', cursor === undefined ? { ...query, limit } : { cursor, limit })

/** What was paid for each cell: pairs of a cell's number in the feed and how many follow from there on, each with a price. */
export const saleCells = (
  query: Partial<QueryOf<'GET /v2/sales/cells'>> = {},
): Call<DataOf<'GET /v2/sales/cells'>> => read('/v2/sales/cells', query)

/** Quartiles, volume and number of sales, and open offers, in groups: docs/sales.md. */
export const stats = (query: Partial<QueryOf<'GET /v2/stats'>> = {}): Call<DataOf<'GET /v2/stats'>> =>
  read('/v2/stats', query)

/** What a parcel may be worth, by comparable sales. @throws {LandpassError} `parcel_not_found` */
export const parcelValue = ({ x, y }: Coord): Call<DataOf<'GET /v2/parcels/{x}/{y}/value'>> =>
  read(pathOf`/v2/parcels/${x}/${y}/value`)

/** What an estate may be worth, by comparable sales. @throws {LandpassError} `estate_not_found` */
export const estateValue = (id: string): Call<DataOf<'GET /v2/estates/{id}/value'>> =>
  read(pathOf`/v2/estates/${id}/value`)

/** Every right of an address over land, each with why: docs/rights.md. */
export const rightsOf = (address: string): Call<DataOf<'GET /v2/addresses/{address}/rights'>> =>
  read(pathOf`/v2/addresses/${address}/rights`)

/** Who may deploy on a parcel; with an address, whether that one may. @throws {LandpassError} `parcel_not_found` */
export const parcelRights = (
  { x, y }: Coord,
  query: { readonly address?: string } = {},
): Call<DataOf<'GET /v2/parcels/{x}/{y}/rights'>> => read(pathOf`/v2/parcels/${x}/${y}/rights`, query)

/** Who may deploy on an estate; with an address, whether that one may. @throws {LandpassError} `estate_not_found` */
export const estateRights = (
  id: string,
  query: { readonly address?: string } = {},
): Call<DataOf<'GET /v2/estates/{id}/rights'>> => read(pathOf`/v2/estates/${id}/rights`, query)

/** Whether an address may deploy at each of up to 500 places, and why. */
export const rightsAt = (address: string, places: readonly Coord[]): Call<DataOf<'POST /v2/rights'>> =>
  postFor('envelope', '/v2/rights', { address, places: places.map(coordText) })

// Bids

/** One bid. @throws {LandpassError} `bid_not_found` */
export const bid = (id: string): Call<DataOf<'GET /bids/{id}'>> => read(pathOf`/v1/bids/${id}`)

/** Bids that an address made or received, newest first. */
export const bidsOf = (
  address: string,
  query: StatusQuery<OfferStatus | 'all'> = {},
): Call<DataOf<'GET /addresses/{address}/bids'>> => read(`${addressPath(address)}/bids`, query)

/** Bids on a parcel, newest first. */
export const parcelBids = (place: Coord, query: BidQuery = {}): Call<DataOf<'GET /parcels/{x}/{y}/bids'>> =>
  read(`${parcelPath(place)}/bids`, query)

/** Bids on an estate, newest first. */
export const estateBids = (id: string, query: BidQuery = {}): Call<DataOf<'GET /estates/{id}/bids'>> =>
  read(`${estatePath(id)}/bids`, query)

/** Bids on a parcel (`x,y`) or an estate, newest first. */
export const assetBids = (
  id: string,
  query: BidQuery & { readonly asset_type?: AssetType } = {},
): Call<DataOf<'GET /assets/{id}/bids'>> => read(`${assetPath(id)}/bids`, query)

/** The parcels and estates that an address made or received bids on. */
export const assetsWithBidsOf = (
  address: string,
  query: StatusQuery<OfferStatus | 'all'> = {},
): Call<DataOf<'GET /bids/{address}/assets'>> => read(pathOf`/v1/bids/${address}/assets`, query)

// Mortgages

/** Mortgages that an address requested, newest first. */
export const mortgagesOf = (
  address: string,
  query: StatusQuery<MortgageStatus> = {},
): Call<DataOf<'GET /addresses/{address}/mortgages'>> => read(`${addressPath(address)}/mortgages`, query)

/** Mortgages on a parcel, newest first. */
export const parcelMortgages = (
  place: Coord,
  query: StatusQuery<MortgageStatus> = {},
): Call<DataOf<'GET /parcels/{x}/{y}/mortgages'>> => read(`${parcelPath(place)}/mortgages`, query)

/** Parcels with a pending or ongoing mortgage that an address requested. */
export const mortgagedParcelsOf = (address: string): Call<DataOf<'GET /mortgages/{address}/parcels'>> =>
  read(pathOf`/v1/mortgages/${address}/parcels`)

// Districts

/** All districts, by name. */
export const districts = (): Call<DataOf<'GET /districts'>> => read('/v1/districts')

/** The outlines of all districts, as GeoJSON, streamed: docs/exports.md. */
export const districtsGeoJson = (): Call<DataOf<'GET /v2/districts.geojson'>> =>
  readAs('stream', '/v2/districts.geojson')

/** One district with its parcels: 150 kB for roads. @throws {LandpassError} `district_not_found` */
export const district = (id: string): Call<DataOf<'GET /v2/districts/{id}'>> =>
  read(pathOf`/v2/districts/${id}`)

/** What an address contributed to districts. */
export const contributionsOf = (address: string): Call<DataOf<'GET /v2/addresses/{address}/contributions'>> =>
  read(pathOf`/v2/addresses/${address}/contributions`)

// Areas and the whole world

/** The parcels of an area, and the estates that have a parcel in it. */
export const mapArea = (area: Corners): Call<DataOf<'GET /map'>> => read('/v1/map', cornerTexts(area))

/** The requested tiles and their fields: docs/tiles.md. */
export interface TileQuery {
  /** Any two opposite corners; the whole world if left out. */
  readonly area?: readonly [Coord, Coord]
  /** Only these fields. */
  readonly include?: readonly TileField[]
  /** All fields but these. */
  readonly exclude?: readonly TileField[]
  /** Only tiles of this owner. */
  readonly owner?: string
  /** Only tiles of these types. */
  readonly type?: OneOrMore<TileType>
}

/** Tile data by `x,y`: docs/tiles.md. */
export const tiles = (query: TileQuery = {}): Call<DataOf<'GET /v2/tiles'>> =>
  read('/v2/tiles', tileTexts(query))

/** Tile data in the older form, by `x,y`. */
export const legacyTiles = (query: TileQuery = {}): Call<DataOf<'GET /tiles'>> =>
  read('/tiles', tileTexts(query))

/** The tiles that have another type for an address, by `x,y`, in the older form: docs/tiles.md. */
export const tilesOf = (address: string): Call<DataOf<'GET /tiles/{address}'>> =>
  read(pathOf`/v1/tiles/${address}`)

/** The tiles that changed since a time in milliseconds, or in the minute before it, by `x,y`, in the older form. */
export const newTiles = (fromMs: number): Call<DataOf<'GET /tiles/new'>> =>
  read('/v1/tiles/new', { from: fromMs })

/** When the tiles changed last. */
export const tilesInfo = (): Call<DataOf<'GET /v2/tiles/info'>> => readAs('json', '/v2/tiles/info')

/** The world as a grid of bytes, for `readFeed`; with a state only the changes since: docs/feed.md. */
export const feed = (since?: string): Call<DataOf<'GET /v2/feed'>> => readAs('bytes', '/v2/feed', { since })

/** The change stream, as bytes: `followChanges` reads its events. */
export const changeStream = (since?: string): Call<DataOf<'GET /v2/changes'>> =>
  readAs('stream', '/v2/changes', { since })

/** The change stream of a search, as bytes: `followLand` reads its events. */
export const landStream = (search: LandFilter, since?: string): Call<DataOf<'GET /v2/changes'>> => {
  // Without a filter the address would be that of the stream of all changes.
  const [, match = 'inside_estates=false'] = readAs('stream', '/v2/land', landTexts(search)).path.split('?')
  return readAs('stream', '/v2/changes', { match, since })
}

/** The whole world as GeoJSON, streamed: docs/exports.md. */
export const parcelsGeoJson = (): Call<DataOf<'GET /v2/export/parcels.geojson'>> =>
  readAs('stream', '/v2/export/parcels.geojson')

/** The whole world as lines of JSON, one for each parcel, streamed: docs/exports.md. */
export const parcelsNdjson = (): Call<DataOf<'GET /v2/export/parcels.ndjson'>> =>
  readAs('stream', '/v2/export/parcels.ndjson')

// Finding land: docs/find-land.md

type LandFilters = Omit<QueryOf<'GET /v2/land.atom'>, 'include' | 'facets'>
type LandRange = Extract<keyof LandFilters, `min_${string}` | `max_${string}`>
type LandPlace = 'nw' | 'se' | 'center'
type LandList = 'asset_type' | 'status' | 'currency' | 'source' | 'district'
type LandTime = 'listed_since' | 'sold_since' | 'ends_before'

/** Which land, and in which order. Prices are MANA: texts keep every digit. Times are dates, ISO 8601 or milliseconds. */
export type LandFilter = Omit<LandFilters, LandRange | LandPlace | LandList | LandTime> & {
  readonly [Name in LandRange]?: string | number
} & { readonly [Name in LandPlace]?: Coord } & { readonly [Name in LandTime]?: Date | string | number } & {
  readonly asset_type?: OneOrMore<AssetType>
  readonly status?: OneOrMore<LandStatus>
  readonly currency?: OneOrMore<'mana' | 'usd'>
  readonly source?: OneOrMore<'order' | 'trade' | 'auction'>
  readonly district?: OneOrMore<string>
}
export type LandStatus = 'open' | 'for_rent' | 'rented' | 'sold' | 'never_sold' | 'none'
export type LandFacet = keyof NonNullable<DataOf<'GET /v2/land'>['facets']>

/** A page of {@link findLand}: its cursor has all but the limit. */
export interface LandPageQuery extends LandFilter {
  readonly include?: 'parcels'
  readonly facets?: OneOrMore<LandFacet>
  readonly limit?: number
  readonly cursor?: string
}

/**
 * Parcels and estates, filtered and sorted, in pages.
 *
 * @example
 * const cheap = { status: 'open', max_plaza: 2, sort_by: 'price_per_parcel' } as const
 * for await (const row of rows(client, (page) => land.findLand({ ...cheap, ...page }))) console.log(row.asset_id, row.offer?.price)
 */
export const findLand = ({ limit, cursor, ...query }: LandPageQuery = {}): Call<DataOf<'GET /v2/land'>> =>
  read('/v2/land', cursor === undefined ? { ...landTexts(query), limit } : { cursor, limit })

/** The cells of all land that fits, as pairs of a cell's number in the feed and how many follow from there on. */
export const landCells = (
  query: Omit<LandFilter, 'sort_by' | 'sort_order'> = {},
): Call<DataOf<'GET /v2/land/cells'>> => read('/v2/land/cells', landTexts(query))

/** All land that fits, as a table for spreadsheets. */
export const landCsv = (query: LandFileQuery = {}): Call<DataOf<'GET /v2/land.csv'>> =>
  readAs('text', '/v2/land.csv', landTexts(query))

/** All land that fits, a line of JSON each, streamed. */
export const landNdjson = (query: LandFileQuery = {}): Call<DataOf<'GET /v2/land.ndjson'>> =>
  readAs('stream', '/v2/land.ndjson', landTexts(query))

/** The outlines of all land that fits, streamed. */
export const landGeoJson = (query: LandFileQuery = {}): Call<DataOf<'GET /v2/land.geojson'>> =>
  readAs('stream', '/v2/land.geojson', landTexts(query))

/** The first 100 of the land that fits, the newest offers if there is no other order, as an Atom feed. */
export const landAtom = (query: LandFilter = {}): Call<DataOf<'GET /v2/land.atom'>> =>
  readAs('text', '/v2/land.atom', landTexts(query))

/** The ends of offers and rents of all land that fits, as a calendar. */
export const landCalendar = (query: LandFilter = {}): Call<DataOf<'GET /v2/land.ics'>> =>
  readAs('text', '/v2/land.ics', landTexts(query))

export type LandFileQuery = LandFilter & Pick<LandPageQuery, 'include'>

function landTexts(query: LandPageQuery): object {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]: [string, unknown]) => {
      if (value instanceof Date) return [name, value.toISOString()]
      return [name, isPlace(value) ? coordText(value) : value]
    }),
  )
}

function isPlace(value: unknown): value is Coord {
  return typeof value === 'object' && value !== null && 'x' in value && 'y' in value
}

/** Finds parcels, estates, districts and addresses by typed text, the best first: docs/search.md. */
export const search = (q: string, query: { readonly limit?: number } = {}): Call<DataOf<'GET /v2/search'>> =>
  read('/v2/search', { q, ...query })

// Map images: `client.url(…)` is their address, for an <img>

type Style = Omit<QueryOf<'GET /parcels/{x}/{y}/map.png'>, 'on-sale'>

/** The centre and style of a map image, and its highlighted parcels: docs/map.md. */
export interface MapImageQuery extends Style {
  readonly center?: Coord
  readonly selected?: readonly Coord[]
}

/** An image of the land around a parcel. */
export const mapImage = ({ center, selected, ...style }: MapImageQuery = {}): Call<DataOf<'GET /map.png'>> =>
  readAs('bytes', '/v1/map.png', {
    ...style,
    center: center && coordText(center),
    selected: selected?.map(coordText).join(';'),
  })

/** An image of a parcel and the land around it. */
export const parcelImage = (place: Coord, style: Style = {}): Call<DataOf<'GET /parcels/{x}/{y}/map.png'>> =>
  readAs('bytes', `${parcelPath(place)}/map.png`, style)

/** An image of an estate and the land around it. @throws {LandpassError} `estate_not_found` */
export const estateImage = (id: string, style: Style = {}): Call<DataOf<'GET /estates/{id}/map.png'>> =>
  readAs('bytes', `${estatePath(id)}/map.png`, style)

type TileStyle = Omit<QueryOf<'GET /tiles.json'>, 'on-sale'>

/** An image tile for map viewers. @throws {LandpassError} `tile_not_found` */
export const tileImage = (
  { z, x, y }: { readonly z: number; readonly x: number; readonly y: number },
  style: TileStyle = {},
): Call<DataOf<'GET /tiles/{z}/{x}/{y}.png'>> => readAs('bytes', pathOf`/v1/tiles/${z}/${x}/${y}.png`, style)

/** Kinds and joins of all parcels as the colours of an image: docs/map.md. */
export const minimapImage = (): Call<DataOf<'GET /minimap.png'>> => readAs('bytes', '/v1/minimap.png')

/** The estates of all parcels as the colours of an image: docs/map.md. */
export const estateMapImage = (): Call<DataOf<'GET /estatemap.png'>> => readAs('bytes', '/v1/estatemap.png')

/** The TileJSON of the image tiles, for map viewers. */
export const tileJson = (style: TileStyle = {}): Call<DataOf<'GET /tiles.json'>> =>
  readAs('json', '/v1/tiles.json', style)

// Tokens

/** The metadata of a parcel's token, as marketplaces read it. @throws {LandpassError} `parcel_not_found` */
export const parcelToken = ({ x, y }: Coord): Call<DataOf<'GET /v2/parcels/{x}/{y}'>> =>
  readAs('json', pathOf`/v2/parcels/${x}/${y}`)

/** The metadata of an estate's token, as marketplaces read it. @throws {LandpassError} `estate_not_found` */
export const estateToken = (id: string): Call<DataOf<'GET /v2/estates/{id}'>> =>
  readAs('json', pathOf`/v2/estates/${id}`)

/** The metadata of a token. @throws {LandpassError} `contract_not_found`, `parcel_not_found` or `estate_not_found` */
export const token = (
  contract: string,
  id: bigint | string,
): Call<DataOf<'GET /v2/contracts/{address}/tokens/{id}'>> =>
  readAs('json', pathOf`/v2/contracts/${contract}/tokens/${id}`)

interface StatusQuery<Status> {
  readonly status?: OneOrMore<Status>
}

function parcelPath({ x, y }: Coord): string {
  return pathOf`/v1/parcels/${x}/${y}`
}

function estatePath(id: string): string {
  return pathOf`/v1/estates/${id}`
}

function assetPath(id: string): string {
  return pathOf`/v1/assets/${id}`
}

function addressPath(address: string): string {
  return pathOf`/v1/addresses/${address}`
}

function cornerTexts({ nw, se }: Corners): object {
  return { nw: coordText(nw), se: coordText(se) }
}

function tileTexts({ area, ...filters }: TileQuery): object {
  const [from, to] = area ?? []
  return { x1: from?.x, y1: from?.y, x2: to?.x, y2: to?.y, ...filters }
}
