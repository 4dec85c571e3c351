import { crc32 } from 'node:zlib'
import type { Area } from '@landpass/client/grid'
import { RECORDS } from '../../land/records/tables.ts'
import type { UnlistedOffer } from '../../land/records/unlisted-offer.ts'
import type { PagedColumn } from './columns.ts'
import type { Chunks } from './pieces.ts'

/**
 * The land at one revision, as columns of numbers and JSON that is ready to send. Immutable. A worker thread builds it
 * (build-state.ts) and transfers it without copying. The parts of a later revision are made from it (patch-state.ts)
 * and share everything that has not changed.
 *
 * A row number is an index into one of these orders: parcels by x ascending, then y descending (the order of `/map`), those of
 * the world first and then those outside of it; estates by id as a number; publications by `tx_hash`, then key (also the order of
 * publications that sort equal).
 *
 * For 90,601 parcels, 1,400 estates and 62,000 publications: about 42 MB of parcels' JSON, 6 MB of open
 * publications' JSON, 1 MB of estates' JSON and 10 MB of numbers.
 */
export interface StateParts {
  readonly lineage: string
  readonly worldId: number
  readonly revision: number
  readonly changedAtMs: number
  /**
   * The block of the chain that the land was at when this revision was read: no later change is in the rows, and no
   * earlier one is missing. Undefined where the world does not come from the chain.
   */
  readonly block: { readonly number: number; readonly hash: string } | undefined
  readonly bounds: Area
  /** The rectangles of the world, within the bounds. */
  readonly areas: readonly Area[]
  readonly parcels: ParcelParts
  readonly estates: EstateParts
  readonly publications: PublicationParts
  readonly sales: SaleParts
  readonly districts: DistrictParts
  /** Open offers that are no publications, by asset. Expired ones are in it too. Read and written by unlisted-offers.ts. */
  readonly unlisted: readonly UnlistedOffer[]
  /**
   * A byte for each cell of the bounds, in the order of {@link ParcelParts.rowAt}: its kind and which neighbours it
   * joins (tile-cells.ts). Offers are not in it, because they depend on the clock: see open-offers.ts.
   */
  readonly cells: Uint8Array
}

/**
 * JSON of all rows of a kind, one piece per row, in chunks. When a piece changes, its chunk is replaced; all other
 * chunks are shared with the earlier state. Row r is piece `r % CHUNK_ROWS` of chunk `floor(r / CHUNK_ROWS)`; all but
 * the last chunk are full. Read and written by json-buffer.ts.
 */
export interface JsonBuffer {
  readonly chunks: Chunks<Uint8Array>
}

/**
 * 64 parcels have about 28 kB of JSON. A change copies so much for each parcel: what it copies soon becomes garbage, and
 * collecting garbage is most of what a change costs.
 */
export const CHUNK_ROWS = 64

export interface ParcelParts {
  /** Each piece is `{…,"publication":null}` and a comma, so that a run of rows is ready to send as part of an array. */
  readonly json: JsonBuffer
  readonly x: Int32Array
  readonly y: Int32Array
  /**
   * How many parcels lie in the world. The rows behind them are those of parcels that a chain names outside of the setting
   * WORLD: they belong to owners and estates, and to no map.
   */
  readonly inWorld: number
  /** The parcel of the world at a cell of the bounds: `rowAt[(x - minX) * height + (maxY - y)]`, -1 where there is none. */
  readonly rowAt: Int32Array
  /** Row of the estate that holds it, or -1. */
  readonly estate: Int32Array
  /** Position in its estate's list of parcels. */
  readonly estatePosition: Int32Array
  /** Parcels whose row names an estate that has no row (yet). */
  readonly orphans: readonly OrphanParcel[]
  /** Index of its district in {@link DistrictParts}, or -1. */
  readonly district: Int16Array
  /** Index of its owner in `owners.addresses`, or -1. The owner of a parcel in an estate is the estate registry. */
  readonly owner: PagedColumn<Int32Array>
  /** Undefined where the name is missing or empty. */
  readonly names: readonly (string | undefined)[]
  /** Last change of its row, in seconds. */
  readonly updatedAtS: PagedColumn<Uint32Array>
  /** Parcels between it and the nearest plaza, or road; {@link NO_DISTANCE} where its tags have no distance. */
  readonly plazaDistance: Uint8Array
  readonly roadDistance: Uint8Array
  readonly owners: OwnerIndex
  /** By the addresses that may operate or update them without owning them; an asset can stand under several. */
  readonly operators: OwnerIndex
  readonly offers: AssetOffers
  readonly rents: AssetRents
}

export interface OrphanParcel {
  readonly row: number
  readonly estateId: string
}

export interface EstateParts {
  /** As with parcels: `{…,"publication":null}` and a comma. */
  readonly json: JsonBuffer
  readonly ids: readonly string[]
  /** Number of parcels; 0 for a dissolved estate. */
  readonly size: Uint32Array
  /** As with parcels. */
  readonly owner: PagedColumn<Int32Array>
  readonly names: readonly (string | undefined)[]
  readonly updatedAtS: PagedColumn<Uint32Array>
  readonly owners: OwnerIndex
  /** As with parcels. */
  readonly operators: OwnerIndex
  readonly offers: AssetOffers
  readonly rents: AssetRents
}

/**
 * The last rent of each asset that is or was rented and has not been claimed back, by row. Those that are over are in
 * it too, because that depends on the clock. Read and written by rents.ts.
 */
export interface AssetRents {
  /** Ascending. */
  readonly rows: Uint32Array
  /** End of the rent, in milliseconds since 1970. */
  readonly untilMs: Float64Array
  readonly tenants: readonly string[]
  /** 1 where the contract of the rent has the token: also after the end, until the lessor claims it. */
  readonly isHeld: Uint8Array
}

/**
 * Assets by owner, or by another address: the rows of those of `addresses[i]`, by id, are piece `i % CHUNK_ADDRESSES` of chunk
 * `floor(i / CHUNK_ADDRESSES)`. Read and written by owner-index.ts.
 */
export interface OwnerIndex {
  readonly addresses: readonly string[]
  readonly chunks: Chunks<Uint32Array>
}

/**
 * The open publications of each asset, newest first, as a linked list: `first[assetRow]`, then
 * {@link PublicationParts.openNext} of that number, until -1. The number of an offer is its row in
 * {@link PublicationParts.openJson}. Expired ones are in the list too, because expiry depends on the clock.
 */
export interface AssetOffers {
  readonly first: Int32Array
}

/** Columns with a value per publication; those named `open…` have a value per offer number. */
export interface PublicationParts {
  readonly key: Uint32Array
  /** 32 bytes per row. */
  readonly txHash: Uint8Array
  /** 0 parcel, 1 estate. */
  readonly assetType: Uint8Array
  /** 1 where the offer was signed off the chain. */
  readonly isSigned: Uint8Array
  /** Row of the asset, or -1 where it does not exist. Dissolved estates have a row. */
  readonly asset: Int32Array
  /** 0 open, 1 cancelled, 2 sold. */
  readonly status: Uint8Array
  /** Index of its price in `prices`. */
  readonly priceRank: Uint32Array
  /** Time of the block in which the publication was made. */
  readonly madeAtMs: Float64Array
  readonly expiresAtMs: Float64Array
  /** NaN where the publication was never updated. */
  readonly updatedAtMs: Float64Array
  /** Offer number, or -1 where the publication is closed. */
  readonly open: Int32Array
  /** Row numbers in each of the orders that a list can have: see {@link OrderName}. */
  readonly orders: Readonly<Record<OrderName, Uint32Array>>
  /** See price-ranks.ts. */
  readonly prices: readonly string[]
  /**
   * Each piece is one publication's JSON, without a comma. An offer keeps its number while it is open. The number of a
   * closed one is not used again: its piece and its price are empty, it expires at 0, and nothing refers to its other values.
   */
  readonly openJson: JsonBuffer
  readonly openExpiresAtMs: Float64Array
  /** Time of the block in which the publication was made. */
  readonly openMadeAtMs: Float64Array
  /** Decimal text, with all digits. */
  readonly openPrice: readonly string[]
  readonly openKey: Uint32Array
  readonly openNext: Int32Array
}

/**
 * Columns with a value per sale: publications that were sold, bids that were accepted, and parcels that were auctioned, oldest first; those of one
 * time, which is that of a block, by their logs, then by {@link SALE_TABLES} and key. Read and written by sales.ts.
 */
export interface SaleParts {
  readonly timeMs: Float64Array
  /** Index in {@link SALE_TABLES}: where the rest of the sale stands, under its key. */
  readonly table: Uint8Array
  /** `parcelKey` of the place of a parcel. */
  readonly key: Float64Array
  /** Position of its log in its block; -1 where it is unknown. */
  readonly logIndex: Int32Array
  /** Index in {@link SALE_SOURCES}. */
  readonly source: Uint8Array
  /** Decimal text, with all digits, and the nearest number. */
  readonly price: readonly string[]
  readonly roundedPrice: Float64Array
  /** The number of parcels that were sold; 0 where it is unknown. */
  readonly size: Uint32Array
  /** Index in `estateIds`; -1 for a parcel, which has coordinates. An estate has 0,0. */
  readonly estate: Int32Array
  readonly x: Int32Array
  readonly y: Int32Array
  /** Indexes in `addresses`. */
  readonly buyer: Int32Array
  readonly seller: Int32Array
  readonly estateIds: readonly string[]
  readonly addresses: readonly string[]
}

export const SALE_TABLES = ['publication', 'bid', 'parcel'] as const
export const SALE_SOURCES = ['order', 'bid', 'trade', 'auction'] as const

/** All districts, including disabled ones: parcels still belong to them. */
export interface DistrictParts {
  readonly ids: readonly string[]
  readonly names: readonly string[]
  /** Kind of its parcels on a map: `KINDS` of tile-cells.ts. */
  readonly kinds: Uint8Array
  /** The enabled ones, by name: the `data` of `/districts`. */
  readonly listJson: Uint8Array
}

/** Raise it when the JSON of an answer changes but no field of a record does: for example how a number is written. */
const WRITTEN_FORM = 1

/**
 * Identifies the form of the answers. It is part of each ETag and of the copy on disk, so that copies in another form
 * are not used. Changes by itself with the fields of the records. 16 bits, as in the copy on disk.
 */
export const ANSWER_FORM =
  crc32(JSON.stringify([WRITTEN_FORM, Object.values(RECORDS).map(({ answer }) => answer)])) & 0xffff

/** A distance that is not known. */
export const NO_DISTANCE = 255

export const SORT_COLUMNS = ['price', 'created_at', 'block_time_updated_at', 'expires_at'] as const
export type SortColumn = (typeof SORT_COLUMNS)[number]
export type SortOrder = 'asc' | 'desc'
export type OrderName = `${SortColumn} ${SortOrder}`

export const STATUS_CODES = { open: 0, cancelled: 1, sold: 2 } as const
export const ASSET_TYPE_CODES = { parcel: 0, estate: 1 } as const

/** All buffers within a value, each once: for transferring it to another thread without copying. */
export function buffersOf(value: unknown, found = new Set<ArrayBuffer>()): Set<ArrayBuffer> {
  if (ArrayBuffer.isView(value)) found.add(value.buffer as ArrayBuffer)
  else if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) buffersOf(inner, found)
  }
  return found
}
