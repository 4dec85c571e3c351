import { mergeRows } from '../parts/merge-rows.ts'
import { NumberSet } from '../parts/number-set.ts'
import { ASSET_TYPE_CODES, type PublicationParts } from '../parts/parts.ts'
import { addPrices } from '../parts/price-ranks.ts'
import { NO_ORDERS, patchOrders } from '../parts/publication-orders.ts'
import { type OfferedAssets, patchOffers } from './patch-offers.ts'
import type { PublicationFacts } from './publication-facts.ts'

/** The publications, and the first offer of each asset. */
export interface OfferedPublications extends OfferedAssets {
  readonly parts: PublicationParts
}

const HASH_BYTES = 32

export const NO_PUBLICATIONS: PublicationParts = {
  key: new Uint32Array(0),
  txHash: new Uint8Array(0),
  assetType: new Uint8Array(0),
  isSigned: new Uint8Array(0),
  asset: new Int32Array(0),
  status: new Uint8Array(0),
  priceRank: new Uint32Array(0),
  madeAtMs: new Float64Array(0),
  expiresAtMs: new Float64Array(0),
  updatedAtMs: new Float64Array(0),
  open: new Int32Array(0),
  orders: NO_ORDERS,
  prices: [],
  openJson: { chunks: [] },
  openExpiresAtMs: new Float64Array(0),
  openMadeAtMs: new Float64Array(0),
  openPrice: [],
  openKey: new Uint32Array(0),
  openNext: new Int32Array(0),
}

/**
 * Adds publications, replaces those with the same keys, and removes others by their keys. All columns are copied, even for a single change; starting
 * from {@link NO_PUBLICATIONS}, most of the time goes into sorting.
 */
export function patchPublications(
  held: OfferedPublications,
  changed: readonly PublicationFacts[],
  removed: readonly number[] = [],
): OfferedPublications {
  if (changed.length + removed.length === 0) return held
  const old = held.parts
  const gone = rowsWithKeys(old.key, [...changed.map(({ key }) => key), ...removed])
  const { open, offers, firstOfParcel, firstOfEstate } = patchOffers(held, gone, changed)
  const { prices, ranks, rankOfOld } = addPrices(
    old.prices,
    changed.map(({ price }) => price),
  )
  const added = columnsOf(changed, { priceRank: ranks, open })
  const sourceOf = placeRows(old, added, gone)
  const columns = gatherColumns({ ...old, priceRank: movedRanks(old.priceRank, rankOfOld) }, added, sourceOf)
  const newRowOf = inverse(sourceOf, old.key.length + changed.length)
  const orders = patchOrders(old.orders, newRowOf, Uint32Array.from(newRowOf.subarray(old.key.length)), {
    price: columns.priceRank,
    created_at: columns.madeAtMs,
    expires_at: columns.expiresAtMs,
    block_time_updated_at: columns.updatedAtMs,
  })
  return { parts: { ...columns, ...offers, prices, orders }, firstOfParcel, firstOfEstate }
}

/** The columns with a value per publication. */
type Columns = Pick<
  PublicationParts,
  | 'key'
  | 'txHash'
  | 'assetType'
  | 'isSigned'
  | 'asset'
  | 'status'
  | 'priceRank'
  | 'madeAtMs'
  | 'expiresAtMs'
  | 'updatedAtMs'
  | 'open'
>

function columnsOf(
  changed: readonly PublicationFacts[],
  known: Pick<Columns, 'priceRank' | 'open'>,
): Columns {
  return {
    ...known,
    key: Uint32Array.from(changed, ({ key }) => key),
    txHash: hashesOf(changed),
    assetType: Uint8Array.from(changed, ({ assetType }) => assetType),
    isSigned: Uint8Array.from(changed, ({ isSigned }) => Number(isSigned)),
    asset: Int32Array.from(changed, ({ asset }) => asset),
    status: Uint8Array.from(changed, ({ status }) => status),
    madeAtMs: Float64Array.from(changed, ({ madeAtMs }) => madeAtMs),
    expiresAtMs: Float64Array.from(changed, ({ expiresAtMs }) => expiresAtMs),
    updatedAtMs: Float64Array.from(changed, ({ updatedAtMs }) => updatedAtMs),
  }
}

function gatherColumns(old: Columns, added: Columns, sourceOf: Uint32Array): Columns {
  const runs = runsOf(sourceOf, old.key.length)
  return {
    key: gather(old.key, added.key, runs),
    txHash: gather(old.txHash, added.txHash, runs, HASH_BYTES),
    assetType: gather(old.assetType, added.assetType, runs),
    isSigned: gather(old.isSigned, added.isSigned, runs),
    asset: gather(old.asset, added.asset, runs),
    status: gather(old.status, added.status, runs),
    priceRank: gather(old.priceRank, added.priceRank, runs),
    madeAtMs: gather(old.madeAtMs, added.madeAtMs, runs),
    expiresAtMs: gather(old.expiresAtMs, added.expiresAtMs, runs),
    updatedAtMs: gather(old.updatedAtMs, added.updatedAtMs, runs),
    open: gather(old.open, added.open, runs),
  }
}

/** Replaces the old rows of estates by their new ones. */
export function renumberAssets(parts: PublicationParts, newRowOf: Int32Array): PublicationParts {
  const asset = parts.asset.slice()
  for (let row = 0; row < asset.length; row++) {
    if (parts.assetType[row] === ASSET_TYPE_CODES.estate && asset[row]! >= 0)
      asset[row] = newRowOf[asset[row]!]!
  }
  return { ...parts, asset }
}

function rowsWithKeys(keys: Uint32Array, changed: readonly number[]): number[] {
  if (keys.length === 0) return []
  const wanted = NumberSet.of(changed)
  const rows: number[] = []
  for (let row = 0; row < keys.length; row++) if (wanted.has(keys[row]!)) rows.push(row)
  return rows
}

function hashesOf(changed: readonly PublicationFacts[]): Uint8Array {
  const bytes = Buffer.alloc(changed.length * HASH_BYTES)
  for (const [i, { txHash }] of changed.entries())
    bytes.write(txHash.slice(2), i * HASH_BYTES, HASH_BYTES, 'hex')
  return bytes
}

type Placed = Pick<PublicationParts, 'key' | 'txHash'>

/**
 * For each new row its source: the number of an old row, or the number of old rows plus the index of an added one.
 * Sorted by the bytes of the transaction hash, then by key. A database's collation could differ between the engines.
 */
function placeRows(old: Placed, added: Placed, gone: readonly number[]): Uint32Array {
  const oldRows = old.key.length
  const compare = (a: number, b: number) => {
    const [left, i] = a < oldRows ? [old, a] : [added, a - oldRows]
    const [right, j] = b < oldRows ? [old, b] : [added, b - oldRows]
    for (let byte = 0; byte < HASH_BYTES; byte++) {
      const order = left.txHash[i * HASH_BYTES + byte]! - right.txHash[j * HASH_BYTES + byte]!
      if (order !== 0) return order
    }
    return left.key[i]! - right.key[j]!
  }
  const addedRows = Uint32Array.from(added.key, (_, i) => oldRows + i).sort(compare)
  return mergeRows(allBut(gone, oldRows), addedRows, compare)
}

function allBut(gone: readonly number[], rows: number): Uint32Array {
  const remaining = new Uint32Array(rows - gone.length)
  let next = 0
  for (let row = 0, at = 0; row < rows; row++) {
    if (gone[next] === row) next++
    else remaining[at++] = row
  }
  return remaining
}

/** `length` rows that follow each other in the source, from `from` on, and in the target, from `at` on. */
interface Run {
  readonly from: number
  readonly at: number
  readonly length: number
}

function runsOf(sourceOf: Uint32Array, oldRows: number): Run[] {
  const runs: Run[] = []
  for (let at = 0; at < sourceOf.length; ) {
    const from = sourceOf[at]!
    let length = 1
    while (sourceOf[at + length] === from + length && from + length !== oldRows) length++
    runs.push({ from, at, length })
    at += length
  }
  return runs
}

type Column = Uint8Array | Int32Array | Uint32Array | Float64Array

/** Makes a column in the new order, with `width` values per row. */
function gather<T extends Column>(old: T, added: T, runs: readonly Run[], width = 1): T {
  const last = runs.at(-1)
  const rows = last ? last.at + last.length : 0
  const gathered = new (old.constructor as new (length: number) => T)(rows * width)
  const oldRows = old.length / width
  for (const { from, at, length } of runs) {
    const source = from < oldRows ? old : added
    const start = (from < oldRows ? from : from - oldRows) * width
    gathered.set(source.subarray(start, start + length * width), at * width)
  }
  return gathered
}

function movedRanks(ranks: Uint32Array, rankOfOld: Uint32Array | undefined): Uint32Array {
  if (!rankOfOld) return ranks
  const moved = new Uint32Array(ranks.length)
  for (let row = 0; row < ranks.length; row++) moved[row] = rankOfOld[ranks[row]!]!
  return moved
}

function inverse(sourceOf: Uint32Array, sources: number): Int32Array {
  const newRowOf = new Int32Array(sources).fill(-1)
  for (let row = 0; row < sourceOf.length; row++) newRowOf[sourceOf[row]!] = row
  return newRowOf
}
