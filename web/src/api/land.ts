import { askJson } from './ask.ts'

/** What the pages read of the land interface (docs, `GET /openapi.json`): the fields that they show, no more. */

/** A question, with the type of its answer. */
export interface Question<Data> {
  readonly path: string
  /** Never there: it carries the type. */
  readonly answer?: Data
}

export type AssetType = 'parcel' | 'estate'
export type OfferStatus = 'open' | 'cancelled' | 'sold'
export type MortgageStatus = 'pending' | 'cancelled' | 'ongoing' | 'paid' | 'defaulted' | 'claimed'
export type SortBy = 'price' | 'created_at' | 'block_time_updated_at' | 'expires_at'
export type SortOrder = 'asc' | 'desc'

interface Place {
  readonly x: number
  readonly y: number
}

/** An offer for sale. Prices are in MANA, times in milliseconds since 1970. */
export interface Publication {
  readonly tx_hash: string
  readonly contract_id: string
  readonly owner: string
  readonly price: number
  readonly expires_at: number
  readonly status: OfferStatus
  readonly buyer: string | null
  readonly block_time_created_at: number
  readonly block_time_updated_at: number | null
  readonly asset_id: string
  readonly asset_type: AssetType
}

interface AssetData {
  readonly name?: string
  readonly description?: string
}

export interface Parcel extends Place {
  /** `x,y` */
  readonly id: string
  /** Null for land that nobody owns; the estate contract for land in an estate. */
  readonly owner: string | null
  readonly operator: string | null
  readonly update_operator: string | null
  readonly data: AssetData
  readonly district_id: string | null
  readonly estate_id: string | null
  readonly tags: { readonly proximity?: { readonly plaza?: Proximity; readonly road?: Proximity } }
  readonly publication: Publication | null
}

export interface Proximity {
  readonly district_id: string
  /** Parcels in between: 0 for a neighbour. */
  readonly distance: number
}

export interface Estate {
  readonly id: string
  readonly token_id: string
  readonly owner: string
  readonly operator: string | null
  readonly update_operator: string | null
  /** No parcels: the estate was dissolved. */
  readonly data: AssetData & { readonly parcels: readonly Place[] }
  readonly district_id: string | null
  readonly publication: Publication | null
}

/** An offer to buy. Times are milliseconds since 1970, as digits. */
export interface Bid {
  readonly id: string
  readonly bidder: string
  readonly seller: string
  readonly price: number
  readonly expires_at: string
  readonly status: OfferStatus
  readonly asset_id: string
  readonly asset_type: AssetType
  readonly block_time_created_at: string
}

export interface Mortgage {
  readonly tx_hash: string
  readonly mortgage_id: number
  readonly status: MortgageStatus
  readonly asset_id: string
  readonly asset_type: AssetType
  readonly borrower: string
  readonly lender: string | null
  readonly amount: number
  readonly outstanding_amount: number
  readonly paid: number
  /** Seconds since 1970, as digits; `0` for a loan that never started. */
  readonly is_due_at: string
  /** Milliseconds since 1970, as digits: the offer to lend ends then. */
  readonly expires_at: string
  readonly block_time_created_at: string
  readonly started_at: string | null
  /** See `loan-rates.ts`. */
  readonly interest_rate: number
  readonly punitory_interest_rate: number
}

export interface District {
  readonly id: string
  readonly name: string
  /** `x,y` */
  readonly center: string
}

export interface Contribution {
  readonly address: string
  readonly district_id: string
  /** Digits. */
  readonly land_count: string
}

/** A page of offers: each asset with its offer. */
export interface MarketPage {
  readonly assets: readonly (Parcel | Estate)[]
  readonly total: number
  readonly limit: number
  readonly offset: number
}

export interface MarketOrder {
  readonly sortBy: SortBy
  readonly sortOrder: SortOrder
  readonly limit: number
  readonly offset: number
}

/** @throws {AskError} for a refusal and for no answer; `AbortError` when the signal ends it */
export function askLand<Data>({ path }: Question<Data>, signal?: AbortSignal): Promise<Data> {
  return askJson<Data>(path, { signal })
}

export const parcelAt = (place: Place): Question<Parcel> => ({ path: below(place) })

export const parcelPublications = (place: Place): Question<readonly Publication[]> => ({
  path: `${below(place)}/publications`,
})

export const parcelBids = (place: Place): Question<readonly Bid[]> => ({ path: `${below(place)}/bids` })

export const parcelMortgages = (place: Place): Question<readonly Mortgage[]> => ({
  path: `${below(place)}/mortgages`,
})

export const estateOf = (id: string): Question<Estate> => ({ path: ofEstate(id) })

export const estatePublications = (id: string): Question<readonly Publication[]> => ({
  path: `${ofEstate(id)}/publications`,
})

export const estateBids = (id: string): Question<readonly Bid[]> => ({ path: `${ofEstate(id)}/bids` })

/** All districts with their names. One district alone comes with its parcels: for roads 150 kB. */
export const allDistricts = (): Question<readonly District[]> => ({ path: '/v1/districts' })

export const marketplace = ({ sortBy, sortOrder, limit, offset }: MarketOrder): Question<MarketPage> => ({
  path: `/v1/marketplace?status=open&sort_by=${sortBy}&sort_order=${sortOrder}&limit=${limit}&offset=${offset}`,
})

export const parcelsOf = (address: string): Question<readonly Parcel[]> => ({
  path: `${ofAddress(address)}/parcels`,
})

export const estatesOf = (address: string): Question<readonly Estate[]> => ({
  path: `${ofAddress(address)}/estates`,
})

export const bidsOf = (address: string): Question<readonly Bid[]> => ({ path: `${ofAddress(address)}/bids` })

export const contributionsOf = (address: string): Question<readonly Contribution[]> => ({
  path: `${ofAddress(address)}/contributions`,
})

export const mortgagesOf = (address: string): Question<readonly Mortgage[]> => ({
  path: `${ofAddress(address)}/mortgages`,
})

export function isEstate(asset: Parcel | Estate): asset is Estate {
  return !('x' in asset)
}

function below({ x, y }: Place): string {
  return `/v1/parcels/${x}/${y}`
}

function ofEstate(id: string): string {
  return `/v1/estates/${encodeURIComponent(id)}`
}

function ofAddress(address: string): string {
  return `/v1/addresses/${encodeURIComponent(address)}`
}

/** One of the results of `GET /v2/search` (docs/search.md). */
export interface SearchResult {
  readonly type: 'parcel' | 'estate' | 'district' | 'address'
  readonly id: string
  readonly name: string | null
  /** A parcel of it, to look at. */
  readonly x: number | null
  readonly y: number | null
  readonly parcels: number
  readonly estates: number | null
}
