import { coordText } from '@landpass/client/grid'
import type { Db } from '../../db/engine.ts'
import { manaText } from '../../land/events/amounts.ts'
import { type SaleDetails, saleDetails } from '../../land/queries/sale-queries.ts'
import { SALE_SOURCES, SALE_TABLES } from '../../state/parts/parts.ts'
import { parcelKey, placeOfKey } from '../../state/parts/sales.ts'
import type { LandView } from '../land/land-view.ts'
import { perParcelWei, type SaleColumns } from './sale-matches.ts'

/** A row of `/v2/sales`: its schema is `Sale` (sales-shapes.ts). */
export type SaleRow = ReturnType<typeof saleRow>

const UNKNOWN: SaleDetails = { price_usd: null, block_number: null, tx_hash: null, log_index: null }

/** Rows of some sales, given by their numbers. Only their places on the chain and prices in dollars are read from the database. */
export async function saleRows(
  { db, worldId }: { readonly db: Db; readonly worldId: number },
  view: LandView,
  columns: SaleColumns,
  numbers: readonly number[],
): Promise<SaleRow[]> {
  const { table, key } = columns.sales
  const keysOf = (name: (typeof SALE_TABLES)[number]) =>
    numbers.filter((sale) => SALE_TABLES[table[sale]!] === name).map((sale) => key[sale]!)
  const found = await saleDetails(db, worldId, {
    publications: keysOf('publication'),
    bids: keysOf('bid'),
    parcels: keysOf('parcel').map(placeOfKey),
  })
  const details = new Map(
    found.map(({ table, key, x, y, ...rest }) => [`${table} ${key ?? parcelKey({ x: x!, y: y! })}`, rest]),
  )
  return numbers.map((sale) => {
    const known = details.get(`${SALE_TABLES[table[sale]!]!} ${key[sale]!}`)
    return saleRow(view, columns, sale, known ?? UNKNOWN)
  })
}

function saleRow({ assets }: LandView, columns: SaleColumns, sale: number, details: SaleDetails) {
  const { price_usd, ...place } = details
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
    price_usd,
    price_per_parcel: perParcel === undefined ? null : manaText(perParcel),
    buyer: sales.addresses[sales.buyer[sale]!] || null,
    seller: sales.addresses[sales.seller[sale]!] || null,
    source: SALE_SOURCES[sales.source[sale]!]!,
    time: sales.timeMs[sale]!,
    ...place,
  }
}
