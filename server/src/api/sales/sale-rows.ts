import { coordText } from '@landpass/client/grid'
import type { Db } from '../../db/engine.ts'
import { manaText } from '../../land/events/amounts.ts'
import { bidsByKey } from '../../land/queries/bid-queries.ts'
import { auctionsAt } from '../../land/queries/parcel-queries.ts'
import { publicationsByKey } from '../../land/queries/publication-queries.ts'
import { SALE_SOURCES, SALE_TABLES } from '../../state/parts/parts.ts'
import { parcelKey, placeOfKey } from '../../state/parts/sales.ts'
import type { LandView } from '../land/land-view.ts'
import { perParcelWei, type SaleColumns } from './sale-matches.ts'

/** A row of `/v2/sales`: its schema is `Sale` (sales-shapes.ts). */
export type SaleRow = ReturnType<typeof saleRow>

/** Where the chain has a sale; null where that is not known. */
interface ChainPlace {
  readonly block_number: number | null
  readonly tx_hash: string | null
  readonly log_index: number | null
}

const UNKNOWN: ChainPlace = { block_number: null, tx_hash: null, log_index: null }

/** Rows of some sales, given by their numbers. Only their places on the chain are read from the database. */
export async function saleRows(
  { db, worldId }: { readonly db: Db; readonly worldId: number },
  view: LandView,
  columns: SaleColumns,
  numbers: readonly number[],
): Promise<SaleRow[]> {
  const { table, key } = columns.sales
  const keysOf = (name: (typeof SALE_TABLES)[number]) =>
    numbers.filter((sale) => SALE_TABLES[table[sale]!] === name).map((sale) => key[sale]!)
  const publications = await publicationsByKey(db, worldId, keysOf('publication'))
  const bids = await bidsByKey(db, worldId, keysOf('bid'))
  const parcels = await auctionsAt(db, worldId, keysOf('parcel').map(placeOfKey))
  const places = {
    publication: new Map(
      publications.map((row) => [row.key, chainPlace(row.sold_block_number, row)] as const),
    ),
    bid: new Map(bids.map((row) => [row.key, chainPlace(row.block_number, row)] as const)),
    parcel: new Map(parcels.map(({ x, y, ...place }) => [parcelKey({ x, y }), place] as const)),
  }
  return numbers.map((sale) =>
    saleRow(view, columns, sale, places[SALE_TABLES[table[sale]!]!].get(key[sale]!) ?? UNKNOWN),
  )
}

function chainPlace(
  block_number: number | null,
  row: { readonly closed_tx_hash: string | null; readonly sold_log_index: number | null },
): ChainPlace {
  return { block_number, tx_hash: row.closed_tx_hash, log_index: row.sold_log_index }
}

function saleRow({ assets }: LandView, columns: SaleColumns, sale: number, place: ChainPlace) {
  const { sales, asset, size } = columns
  const estate = sales.estate[sale]!
  const isEstate = estate >= 0
  const coord = { x: sales.x[sale]!, y: sales.y[sale]! }
  const number = asset[sale]!
  const perParcel = perParcelWei(columns, sale)
  return {
    asset_type: isEstate ? ('estate' as const) : ('parcel' as const),
    asset_id: isEstate ? sales.estateIds[estate]! : coordText(coord),
    x: isEstate ? (assets.x[number] ?? null) : coord.x,
    y: isEstate ? (assets.y[number] ?? null) : coord.y,
    size: size[sale]! === 0 ? null : size[sale]!,
    price: sales.price[sale]!,
    currency: 'mana' as const,
    price_usd: null,
    price_per_parcel: perParcel === undefined ? null : manaText(perParcel),
    buyer: sales.addresses[sales.buyer[sale]!] || null,
    seller: sales.addresses[sales.seller[sale]!] || null,
    source: SALE_SOURCES[sales.source[sale]!]!,
    time: sales.timeMs[sale]!,
    ...place,
  }
}
