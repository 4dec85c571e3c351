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
  /** Undefined: both. */
  readonly assetType?: AssetType | undefined
  readonly statuses: readonly ListingStatus[]
  readonly sortBy: SortColumn
  readonly sortOrder: SortOrder
}

export interface PublicationList {
  /** Rows of publications, in order. */
  readonly rows: Uint32Array
  /** The last expiry that has passed among those that were listed as open; 0 if none. */
  readonly lastExpiryMs: number
}

interface KnownList extends PublicationList {
  /** The list is right from its last expiry until the next one. */
  readonly nextExpiryMs: number
}

/** Lists kept for the next page of the same reader: at most 32, a quarter of a megabyte each in a usual world. */
const KEPT_LISTS = 32

/** The publications of a status in an order: what is open is decided by the time of the question. */
export class PublicationLists {
  private readonly parts: PublicationParts
  private readonly estateSize: Uint32Array
  private readonly kept = new Map<string, KnownList>()

  constructor({ publications, estates }: Pick<StateParts, 'publications' | 'estates'>) {
    this.parts = publications
    this.estateSize = estates.size
  }

  find(query: ListQuery, nowMs: number): PublicationList {
    const name = `${query.assetType} ${[...query.statuses].sort()} ${query.sortBy} ${query.sortOrder}`
    const known = this.kept.get(name)
    if (known && known.lastExpiryMs <= nowMs && nowMs < known.nextExpiryMs) return known
    const list = this.filter(query, nowMs)
    this.kept.delete(name)
    this.kept.set(name, list)
    if (this.kept.size > KEPT_LISTS) this.kept.delete(this.kept.keys().next().value!)
    return list
  }

  private filter({ assetType, statuses, sortBy, sortOrder }: ListQuery, nowMs: number): KnownList {
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
      // A dissolved estate is listed nowhere.
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
