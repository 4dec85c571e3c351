import type { Area } from '../../world/world.ts'

/**
 * The present state of the land as flat memory: what one revision says, in bytes that are ready to send.
 * A thread makes it (build-present.ts) and hands it over without copying; nothing changes it afterwards.
 *
 * Rows: parcels by x ascending, then y descending (the order of `/map`); estates by number; publications by
 * `tx_hash`, then key (the order in which ties are settled). A row number is an index into that order.
 *
 * For 90,601 parcels, 1,400 estates and 62,000 publications: about 45 MB of parcels' JSON, 6 MB of open
 * publications' JSON, 1 MB of estates' JSON and 5 MB of numbers.
 */
export interface PresentParts {
  readonly lineage: string
  readonly worldId: number
  readonly revision: number
  readonly changedAtMs: number
  readonly bounds: Area
  readonly parcels: ParcelParts
  readonly estates: EstateParts
  readonly publications: PublicationParts
  /** The `data` of `/districts`. */
  readonly districts: Uint8Array
}

/** Pieces of JSON one after another: piece i is `bytes` from `starts[i]` to `starts[i + 1]`. */
export interface JsonSlab {
  readonly bytes: Uint8Array
  readonly starts: Uint32Array | Float64Array
}

export interface ParcelParts {
  /** Each piece is `{…,"publication":null}` and a comma, so that a run of them is one piece of an array. */
  readonly json: JsonSlab
  readonly x: Int32Array
  readonly y: Int32Array
  /** The parcel at a cell of the bounds: `rowAt[(x - minX) * height + (maxY - y)]`, -1 where there is none. */
  readonly rowAt: Int32Array
  /** Row of the estate that holds it, or -1. */
  readonly estate: Int32Array
  readonly owners: OwnerIndex
  readonly offers: AssetOffers
}

export interface EstateParts {
  /** As with parcels: `{…,"publication":null}` and a comma. */
  readonly json: JsonSlab
  readonly ids: readonly string[]
  /** Number of parcels; 0 for a dissolved estate. */
  readonly size: Uint32Array
  readonly owners: OwnerIndex
  readonly offers: AssetOffers
}

/** Assets by owner: those of `addresses[i]` are `rows` from `starts[i]` to `starts[i + 1]`, by id. */
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

export interface PublicationParts {
  readonly key: Uint32Array
  /** 0 parcel, 1 estate. */
  readonly assetType: Uint8Array
  /** Row of the asset; -1 keeps the publication out of the lists (a dissolved estate). */
  readonly asset: Int32Array
  /** 0 open, 1 cancelled, 2 sold. */
  readonly status: Uint8Array
  /** The number among the open ones, or -1. */
  readonly open: Int32Array
  /** Row numbers in each of the orders that a list can have: see {@link OrderName}. */
  readonly orders: Readonly<Record<OrderName, Uint32Array>>
  /** Each piece is one publication's JSON, without a comma. */
  readonly openJson: JsonSlab
  readonly openExpiresAtMs: Float64Array
  readonly openKey: Uint32Array
  readonly openNext: Int32Array
}

export const SORT_COLUMNS = ['price', 'created_at', 'block_time_updated_at', 'expires_at'] as const
export type SortColumn = (typeof SORT_COLUMNS)[number]
export type SortOrder = 'asc' | 'desc'
export type OrderName = `${SortColumn} ${SortOrder}`

export const STATUS_CODES = { open: 0, cancelled: 1, sold: 2 } as const
export const ASSET_TYPE_CODES = { parcel: 0, estate: 1 } as const

/** Every buffer of the parts, for handing them to another thread without a copy. */
export function buffersOf(value: unknown, found = new Set<ArrayBuffer>()): Set<ArrayBuffer> {
  if (ArrayBuffer.isView(value)) found.add(value.buffer as ArrayBuffer)
  else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    for (const inner of Object.values(value)) buffersOf(inner, found)
  }
  return found
}
