import { crc32 } from 'node:zlib'
import type { Area } from '@landpass/client/grid'
import { RECORDS } from '../../land/records/tables.ts'

/**
 * The state of the land as flat memory: what one revision says, in bytes that are ready to send.
 * A thread makes it (build-state.ts) and hands it over without copying; nothing changes it afterwards. The state of
 * a later revision is made from it (patch-state.ts) and shares with it all that is still the same.
 *
 * Rows: parcels by x ascending, then y descending (the order of `/map`); estates by number; publications by
 * `tx_hash`, then key (the order in which ties are settled). A row number is an index into that order.
 *
 * For 90,601 parcels, 1,400 estates and 62,000 publications: about 42 MB of parcels' JSON, 6 MB of open
 * publications' JSON, 1 MB of estates' JSON and 10 MB of numbers.
 */
export interface StateParts {
  readonly lineage: string
  readonly worldId: number
  readonly revision: number
  readonly changedAtMs: number
  readonly bounds: Area
  readonly parcels: ParcelParts
  readonly estates: EstateParts
  readonly publications: PublicationParts
  readonly districts: DistrictParts
  /**
   * What the map shows of each cell of the bounds, in the order of {@link ParcelParts.rowAt}: a kind and how it
   * joins its neighbours (tile-cells.ts). Sales depend on the clock and are not in it: see {@link Sales}.
   */
  readonly cells: Uint8Array
}

/**
 * Pieces of JSON one after another, in chunks: one that changes is replaced with its chunk, and all other chunks are
 * shared with the state before. Row r is piece `r % CHUNK_ROWS` of chunk `floor(r / CHUNK_ROWS)`; all but the last
 * chunk are full. Read and written by slab.ts.
 */
export interface JsonSlab {
  readonly chunks: readonly SlabChunk[]
}

/** Piece i is `bytes` from `starts[i]` to `starts[i + 1]`. */
export interface SlabChunk {
  readonly bytes: Uint8Array
  readonly starts: Uint32Array
}

/** 512 parcels are about 200 kB: as much as a stream writes at once, and copied in some 50 µs. */
export const CHUNK_ROWS = 512

export interface ParcelParts {
  /** Each piece is `{…,"publication":null}` and a comma, so that a run of them is one piece of an array. */
  readonly json: JsonSlab
  readonly x: Int32Array
  readonly y: Int32Array
  /** The parcel at a cell of the bounds: `rowAt[(x - minX) * height + (maxY - y)]`, -1 where there is none. */
  readonly rowAt: Int32Array
  /** Row of the estate that holds it, or -1. */
  readonly estate: Int32Array
  /** Place in its estate's list of parcels. */
  readonly estatePosition: Int32Array
  /** Parcels that name an estate that is not there (yet). */
  readonly strays: readonly Stray[]
  /** Place of its district in {@link DistrictParts}, or -1. */
  readonly district: Int16Array
  /** Place of its owner in `owners.addresses`, or -1. The owner of a parcel in an estate is the estate registry. */
  readonly owner: Int32Array
  /** What its owner calls it; undefined where the name is missing or empty. */
  readonly names: readonly (string | undefined)[]
  /** Last change of its row, in seconds. */
  readonly updatedAtS: Uint32Array
  /** Parcels between it and the nearest plaza, and road; {@link FAR} where its tags say nothing. */
  readonly plazaDistance: Uint8Array
  readonly roadDistance: Uint8Array
  readonly owners: OwnerIndex
  /** By the addresses that may operate or update them without owning them; an asset can stand under several. */
  readonly operators: OwnerIndex
  readonly offers: AssetOffers
}

export interface Stray {
  readonly row: number
  readonly estateId: string
}

export interface EstateParts {
  /** As with parcels: `{…,"publication":null}` and a comma. */
  readonly json: JsonSlab
  readonly ids: readonly string[]
  /** Number of parcels; 0 for a dissolved estate. */
  readonly size: Uint32Array
  /** As with parcels. */
  readonly owner: Int32Array
  readonly names: readonly (string | undefined)[]
  readonly updatedAtS: Uint32Array
  readonly owners: OwnerIndex
  /** As with parcels. */
  readonly operators: OwnerIndex
  readonly offers: AssetOffers
}

/** Assets by owner, or by another address: those of `addresses[i]` are `rows` from `starts[i]` to `starts[i + 1]`, by id. */
export interface OwnerIndex {
  readonly addresses: readonly string[]
  readonly starts: Uint32Array
  readonly rows: Uint32Array
}

/**
 * The open publications of each asset, newest first, as a chain: `first[assetRow]`, then `next[offer]`, until -1.
 * An offer's number is its place in {@link PublicationParts.openJson}. Expired ones are in the chain too.
 */
export interface AssetOffers {
  readonly first: Int32Array
}

/** A value per row, and beneath them those of the open ones, a value per offer number. */
export interface PublicationParts {
  readonly key: Uint32Array
  /** 32 bytes per row. */
  readonly txHash: Uint8Array
  /** 0 parcel, 1 estate. */
  readonly assetType: Uint8Array
  /** Row of the asset, or -1 where there is none. A dissolved estate is one, but not listed. */
  readonly asset: Int32Array
  /** 0 open, 1 cancelled, 2 sold. */
  readonly status: Uint8Array
  /** Place of its price in `prices`. */
  readonly priceRank: Uint32Array
  readonly createdAtMs: Float64Array
  readonly expiresAtMs: Float64Array
  /** NaN where it was never updated. */
  readonly updatedAtMs: Float64Array
  /** The number among the open ones, or -1. */
  readonly open: Int32Array
  /** Row numbers in each of the orders that a list can have: see {@link OrderName}. */
  readonly orders: Readonly<Record<OrderName, Uint32Array>>
  /** See price-ranks.ts. */
  readonly prices: readonly string[]
  /**
   * Each piece is one publication's JSON, without a comma. An offer keeps its number while it is open; a closed one
   * leaves an empty piece behind, and values that nothing refers to.
   */
  readonly openJson: JsonSlab
  readonly openExpiresAtMs: Float64Array
  /** Time of the block in which it was made. */
  readonly openMadeAtMs: Float64Array
  /** Decimal text, every digit of it. */
  readonly openPrice: readonly string[]
  readonly openKey: Uint32Array
  readonly openNext: Int32Array
}

/** All districts, the disabled ones as well: parcels keep belonging to them. */
export interface DistrictParts {
  readonly ids: readonly string[]
  readonly names: readonly string[]
  /** What its parcels are on a map: see {@link KINDS}. */
  readonly kinds: Uint8Array
  /** The enabled ones, by name: the `data` of `/districts`. */
  readonly listJson: Uint8Array
}

/** Raised when an answer changes its form without another field of a record, in how a number is written for instance. */
const WRITTEN_FORM = 3

/**
 * Stands for the form of the answers: a copy of another form, a client's or our own, is no longer right. Another field of
 * a record makes it another number by itself. 16 bits, as the copy on disk holds it.
 */
export const ANSWER_FORM =
  crc32(JSON.stringify([WRITTEN_FORM, Object.values(RECORDS).map(({ answer }) => answer)])) & 0xffff

/** No distance is known. */
export const FAR = 255

export const SORT_COLUMNS = ['price', 'created_at', 'block_time_updated_at', 'expires_at'] as const
export type SortColumn = (typeof SORT_COLUMNS)[number]
export type SortOrder = 'asc' | 'desc'
export type OrderName = `${SortColumn} ${SortOrder}`

export const STATUS_CODES = { open: 0, cancelled: 1, sold: 2 } as const
export const ASSET_TYPE_CODES = { parcel: 0, estate: 1 } as const

/** Every buffer of the parts, for handing them to another thread without a copy. */
export function buffersOf(value: unknown, found = new Set<ArrayBuffer>()): Set<ArrayBuffer> {
  if (ArrayBuffer.isView(value)) found.add(value.buffer as ArrayBuffer)
  else if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) buffersOf(inner, found)
  }
  return found
}
