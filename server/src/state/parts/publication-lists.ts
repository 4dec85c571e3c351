import type { AssetType } from '../../land/records/assets.ts'
import type { ListingStatus } from '../../land/records/statuses.ts'
import {
  ASSET_TYPE_CODES,
  type PublicationParts,
  type SortColumn,
  type SortOrder,
  STATUS_CODES,
  type StateParts,
} from './parts.ts'

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

interface CachedList extends PublicationList {
  /** The list can be used from `lastExpiryMs` until then. */
  readonly nextExpiryMs: number
}

/**
 * A client asks for a list page by page, so the last lists are cached: a quarter of a megabyte each in the usual world.
 */
const MAX_CACHED_LISTS = 32

/** Sorted and filtered lists of publications. An open publication is left out once it has expired. */
export class PublicationLists {
  private readonly parts: PublicationParts
  private readonly estateSize: Uint32Array
  private readonly cache = new Map<string, CachedList>()

  constructor({ publications, estates }: Pick<StateParts, 'publications' | 'estates'>) {
    this.parts = publications
    this.estateSize = estates.size
  }

  find(query: ListQuery, nowMs: number): PublicationList {
    const name = `${query.assetType} ${[...query.statuses].sort()} ${query.sortBy} ${query.sortOrder}`
    const cached = this.cache.get(name)
    if (cached && cached.lastExpiryMs <= nowMs && nowMs < cached.nextExpiryMs) return cached
    const list = this.filter(query, nowMs)
    this.cache.delete(name)
    this.cache.set(name, list)
    if (this.cache.size > MAX_CACHED_LISTS) this.cache.delete(this.cache.keys().next().value!)
    return list
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
      if (status[row] === STATUS_CODES.open) {
        // An open offer of a dissolved estate has no land to sell; what was sold before it was dissolved is listed.
        if (typeOf[row] === ASSET_TYPE_CODES.estate && this.estateSize[asset[row]!] === 0) continue
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
