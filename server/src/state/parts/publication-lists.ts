import { BoundedCache } from '../../bounded-cache.ts'
import type { AssetType } from '../../land/records/assets.ts'
import type { ListingStatus } from '../../land/records/statuses.ts'
import { firstBeyond } from './merge-rows.ts'
import {
  ASSET_TYPE_CODES,
  type PublicationParts,
  type SortColumn,
  type SortOrder,
  STATUS_CODES,
  type StateParts,
} from './parts.ts'
import { compareDecimals } from './price-ranks.ts'

export interface ListQuery {
  /** Both where undefined. */
  readonly assetType?: AssetType | undefined
  readonly statuses: readonly ListingStatus[]
  readonly sortBy: SortColumn
  readonly sortOrder: SortOrder
}

export interface PublicationList {
  /** Rows of publications, in order. */
  readonly rows: Uint32Array
  /** When the last of the open publications that fit the query expired; 0 if none has. */
  readonly lastExpiryMs: number
}

/**
 * The place of a publication in an order. Rows around it may come and go: it stays behind the same rows, as long as its
 * own value stays.
 */
export interface ListPlace {
  /** What the list is sorted by, as a decimal; null where the publication has no such value. */
  readonly value: string | null
  readonly txHash: string
  readonly key: number
}

interface CachedList extends PublicationList {
  /** The list can be used from `lastExpiryMs` until then. */
  readonly nextExpiryMs: number
}

/** A client asks for a list page by page. A list has a quarter of a megabyte in the usual world; one of more than 8 MB is not cached. */
const CACHED_BYTES = 16 * 1024 * 1024
const HASH_BYTES = 32

const known = new WeakMap<PublicationParts, PublicationLists>()

/** The lists of a state: the same as of an earlier state with the same publications and sizes of estates. */
export function publicationListsOf({
  publications,
  estates,
}: Pick<StateParts, 'publications' | 'estates'>): PublicationLists {
  const earlier = known.get(publications)
  if (earlier?.estateSize === estates.size) return earlier
  const lists = new PublicationLists(publications, estates.size)
  known.set(publications, lists)
  return lists
}

/**
 * Sorted and filtered lists of publications. Those of dissolved estates are left out, and an open publication once it has
 * expired.
 */
export class PublicationLists {
  readonly estateSize: Uint32Array
  private readonly parts: PublicationParts
  private readonly cache = new BoundedCache<CachedList>(CACHED_BYTES)

  constructor(publications: PublicationParts, estateSize: Uint32Array) {
    this.parts = publications
    this.estateSize = estateSize
  }

  find(query: ListQuery, nowMs: number): PublicationList {
    const name = `${query.assetType} ${[...query.statuses].sort()} ${query.sortBy} ${query.sortOrder}`
    const cached = this.cache.get(name)
    if (cached && cached.lastExpiryMs <= nowMs && nowMs < cached.nextExpiryMs) return cached
    const list = this.filter(query, nowMs)
    this.cache.set(name, list, list.rows.byteLength)
    return list
  }

  /** The place of a row in an order. */
  placeOf(row: number, sortBy: SortColumn): ListPlace {
    return { value: this.valueOf(row, sortBy), txHash: this.txHashOf(row), key: this.parts.key[row]! }
  }

  /** Index of the first row of a list that stands behind a place, or the length of the list. */
  indexBehind(rows: Uint32Array, place: ListPlace, order: Pick<ListQuery, 'sortBy' | 'sortOrder'>): number {
    const sign = order.sortOrder === 'asc' ? 1 : -1
    return firstBeyond(rows, 0, (row) => {
      const value = this.valueOf(row, order.sortBy)
      const byValue = compareValues(value, place.value, sign)
      if (byValue !== 0) return byValue > 0
      const txHash = this.txHashOf(row)
      return txHash === place.txHash ? this.parts.key[row]! > place.key : txHash > place.txHash
    })
  }

  private valueOf(row: number, sortBy: SortColumn): string | null {
    const { priceRank, prices, madeAtMs, updatedAtMs, expiresAtMs } = this.parts
    if (sortBy === 'price') return prices[priceRank[row]!]!
    const times = { created_at: madeAtMs, block_time_updated_at: updatedAtMs, expires_at: expiresAtMs }
    const timeMs = times[sortBy][row]!
    return Number.isNaN(timeMs) ? null : String(timeMs)
  }

  private txHashOf(row: number): string {
    const hash = this.parts.txHash.subarray(row * HASH_BYTES, (row + 1) * HASH_BYTES)
    return `0x${Buffer.from(hash).toString('hex')}`
  }

  private filter({ assetType, statuses, sortBy, sortOrder }: ListQuery, nowMs: number): CachedList {
    const { assetType: typeOf, asset, status, open, openExpiresAtMs, orders } = this.parts
    const type = assetType === undefined ? -1 : ASSET_TYPE_CODES[assetType]
    const wanted = new Uint8Array(3)
    for (const one of statuses) wanted[STATUS_CODES[one]] = 1
    const order = orders[`${sortBy} ${sortOrder}`]
    const rows = new Uint32Array(order.length)
    let count = 0
    let lastExpiryMs = 0
    let nextExpiryMs = Number.POSITIVE_INFINITY
    for (let i = 0; i < order.length; i++) {
      const row = order[i]!
      if (wanted[status[row]!] === 0 || asset[row]! < 0 || (type >= 0 && typeOf[row] !== type)) continue
      if (typeOf[row] === ASSET_TYPE_CODES.estate && this.estateSize[asset[row]!] === 0) continue
      if (status[row] === STATUS_CODES.open) {
        const expiresAtMs = openExpiresAtMs[open[row]!]!
        if (expiresAtMs <= nowMs) {
          if (expiresAtMs > lastExpiryMs) lastExpiryMs = expiresAtMs
          continue
        }
        if (expiresAtMs < nextExpiryMs) nextExpiryMs = expiresAtMs
      }
      rows[count++] = row
    }
    return { rows: rows.slice(0, count), lastExpiryMs, nextExpiryMs }
  }
}

/** Orders two decimals by value; null comes last in both directions. */
function compareValues(left: string | null, right: string | null, sign: number): number {
  if (left === null || right === null) return Number(left === null) - Number(right === null)
  return sign * compareDecimals(left, right)
}
