import { CONTRACT_LIMIT, type Coord, coordText, parseCoord } from '@landpass/client/grid'
import type { AssetType } from '../../land/records/assets.ts'
import type { BidTable } from '../../land/records/bid.ts'
import type { ParcelTable } from '../../land/records/parcel.ts'
import type { PublicationTable } from '../../land/records/publication.ts'
import { mergeRows } from './merge-rows.ts'
import { SALE_SOURCES, SALE_TABLES, type SaleParts } from './parts.ts'
import { positionsOf, withTexts } from './positions.ts'

/** What the columns of `SaleParts` hold of a sale. */
export interface SaleFacts {
  readonly timeMs: number
  readonly table: (typeof SALE_TABLES)[number]
  readonly key: number
  /** -1 where it is unknown. */
  readonly logIndex: number
  readonly source: (typeof SALE_SOURCES)[number]
  readonly price: string
  /** 0 where it is unknown. */
  readonly size: number
  readonly assetType: AssetType
  readonly assetId: string
  readonly buyer: string
  readonly seller: string
}

/** @param row of a publication that was sold */
export function saleOfPublication(row: PublicationTable): SaleFacts {
  return {
    // A snapshot need not say when it was sold.
    timeMs: row.block_time_updated_at_ms ?? row.block_time_created_at_ms,
    ...{ table: 'publication', key: row.key, logIndex: row.sold_log_index ?? -1 },
    ...{ source: row.sold_source ?? 'order', price: row.price },
    ...{ size: soldSize(row), assetType: row.asset_type, assetId: row.asset_id },
    ...{ buyer: row.buyer ?? '', seller: row.owner },
  }
}

/** @param row of a bid that was accepted */
export function saleOfBid(row: BidTable): SaleFacts {
  return {
    timeMs: row.block_time_updated_at_ms,
    ...{ table: 'bid', key: row.key, logIndex: row.sold_log_index ?? -1, source: 'bid', price: row.price },
    ...{ size: soldSize(row), assetType: row.asset_type, assetId: row.asset_id },
    ...{ buyer: row.bidder, seller: row.seller },
  }
}

/** Undefined for a parcel that no log says was auctioned: the first auction left none. */
export function saleOfParcel(row: ParcelTable): SaleFacts | undefined {
  const { auctioned_at_ms: timeMs, auction_price: price } = row
  if (timeMs === null || price === null) return undefined
  return {
    timeMs,
    ...{ table: 'parcel', key: parcelKey(row), logIndex: row.auction_log_index ?? -1 },
    ...{ source: 'auction', price, size: 1, assetType: 'parcel', assetId: coordText(row) },
    // Sold by the project, which no log names
    ...{ buyer: row.auction_owner ?? '', seller: '' },
  }
}

const KEY_STEP = 2 * CONTRACT_LIMIT + 1

/** A number for each place of the contract: by x, then from north to south. {@link placeOfKey} is the way back. */
export function parcelKey({ x, y }: Coord): number {
  return (x + CONTRACT_LIMIT) * KEY_STEP + CONTRACT_LIMIT - y
}

/** @example placeOfKey(parcelKey({ x: -3, y: 7 })) // { x: -3, y: 7 } */
export function placeOfKey(key: number): Coord {
  return { x: Math.floor(key / KEY_STEP) - CONTRACT_LIMIT, y: CONTRACT_LIMIT - (key % KEY_STEP) }
}

function soldSize({ asset_type, sold_size }: Pick<PublicationTable | BidTable, 'asset_type' | 'sold_size'>) {
  return asset_type === 'parcel' ? 1 : (sold_size ?? 0)
}

export const NO_SALES: SaleParts = {
  timeMs: new Float64Array(0),
  table: new Uint8Array(0),
  key: new Float64Array(0),
  logIndex: new Int32Array(0),
  source: new Uint8Array(0),
  price: [],
  roundedPrice: new Float64Array(0),
  size: new Uint32Array(0),
  estate: new Int32Array(0),
  x: new Int32Array(0),
  y: new Int32Array(0),
  buyer: new Int32Array(0),
  seller: new Int32Array(0),
  estateIds: [],
  addresses: [],
}

type ChangedKeys = Readonly<Record<(typeof SALE_TABLES)[number], readonly number[]>>

/**
 * Adds sales, in the place of those with the keys that changed. All columns are copied, even for a single sale: sales are
 * few among the changes.
 *
 * @param changed keys of rows that changed: those of the added sales, and of rows that are no sales any more
 */
export function patchSales(held: SaleParts, added: readonly SaleFacts[], changed?: ChangedKeys): SaleParts {
  const kept = changed ? rowsWithout(held, changed) : rowsOf(held)
  if (added.length === 0 && kept.length === held.key.length) return held
  const estateIds = withTexts(
    held.estateIds,
    added.filter(({ assetType }) => assetType === 'estate').map(({ assetId }) => assetId),
  )
  const addresses = withTexts(
    held.addresses,
    added.flatMap(({ buyer, seller }) => [buyer, seller]),
  )
  const more = columnsOf(added, { estateIds, addresses })
  const oldRows = held.key.length
  const at = (row: number) => (row < oldRows ? ([held, row] as const) : ([more, row - oldRows] as const))
  const compare = (a: number, b: number) => {
    const [left, i] = at(a)
    const [right, j] = at(b)
    return compareSales(left, i, right, j)
  }
  const addedRows = Uint32Array.from(added, (_, i) => oldRows + i).sort(compare)
  const sourceOf = mergeRows(kept, addedRows, compare)
  const joined = <T extends Column>(name: NumberColumn, values: T): T => {
    for (const [row, source] of sourceOf.entries()) {
      const [from, i] = at(source)
      values[row] = from[name][i]!
    }
    return values
  }
  const count = sourceOf.length
  return {
    timeMs: joined('timeMs', new Float64Array(count)),
    table: joined('table', new Uint8Array(count)),
    key: joined('key', new Float64Array(count)),
    logIndex: joined('logIndex', new Int32Array(count)),
    source: joined('source', new Uint8Array(count)),
    price: Array.from(sourceOf, (source) => {
      const [from, i] = at(source)
      return from.price[i]!
    }),
    roundedPrice: joined('roundedPrice', new Float64Array(count)),
    size: joined('size', new Uint32Array(count)),
    estate: joined('estate', new Int32Array(count)),
    x: joined('x', new Int32Array(count)),
    y: joined('y', new Int32Array(count)),
    buyer: joined('buyer', new Int32Array(count)),
    seller: joined('seller', new Int32Array(count)),
    estateIds,
    addresses,
  }
}

/** The columns by which sales are in order. */
type Placed = Pick<SaleParts, 'timeMs' | 'logIndex' | 'table' | 'key'>

/** Less than 0 where sale `i` of the first columns is older than sale `j` of the others. */
export function compareSales(left: Placed, i: number, right: Placed, j: number): number {
  return (
    left.timeMs[i]! - right.timeMs[j]! ||
    left.logIndex[i]! - right.logIndex[j]! ||
    left.table[i]! - right.table[j]! ||
    left.key[i]! - right.key[j]!
  )
}

type Column = Float64Array | Uint8Array | Uint32Array | Int32Array
type NumberColumn = Exclude<keyof SaleParts, 'price' | 'estateIds' | 'addresses'>

function rowsOf({ key }: Pick<SaleParts, 'key'>): Uint32Array {
  return Uint32Array.from(key, (_, row) => row)
}

function rowsWithout({ table, key }: SaleParts, changed: ChangedKeys): Uint32Array {
  if (SALE_TABLES.every((name) => changed[name].length === 0)) return rowsOf({ key })
  const gone = SALE_TABLES.map((name) => new Set(changed[name]))
  return rowsOf({ key }).filter((row) => !gone[table[row]!]!.has(key[row]!))
}

function columnsOf(
  sales: readonly SaleFacts[],
  { estateIds, addresses }: Pick<SaleParts, 'estateIds' | 'addresses'>,
): SaleParts {
  const estates = positionsOf(estateIds)
  const places = positionsOf(addresses)
  const coords = sales.map(
    ({ assetType, assetId }) => (assetType === 'parcel' && parseCoord(assetId)) || { x: 0, y: 0 },
  )
  return {
    timeMs: Float64Array.from(sales, ({ timeMs }) => timeMs),
    table: Uint8Array.from(sales, ({ table }) => SALE_TABLES.indexOf(table)),
    key: Float64Array.from(sales, ({ key }) => key),
    logIndex: Int32Array.from(sales, ({ logIndex }) => logIndex),
    source: Uint8Array.from(sales, ({ source }) => SALE_SOURCES.indexOf(source)),
    price: sales.map(({ price }) => price),
    roundedPrice: Float64Array.from(sales, ({ price }) => Number(price)),
    size: Uint32Array.from(sales, ({ size }) => size),
    estate: Int32Array.from(sales, ({ assetType, assetId }) =>
      assetType === 'estate' ? estates.get(assetId)! : -1,
    ),
    x: Int32Array.from(coords, ({ x }) => x),
    y: Int32Array.from(coords, ({ y }) => y),
    buyer: Int32Array.from(sales, ({ buyer }) => places.get(buyer)!),
    seller: Int32Array.from(sales, ({ seller }) => places.get(seller)!),
    estateIds,
    addresses,
  }
}
