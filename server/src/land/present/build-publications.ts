import type { Db } from '../../db/engine.ts'
import type { PublicationTable } from '../../db/schema.ts'
import { parseCoord } from '../../world/coord.ts'
import { publicationJson } from '../publications/publication-json.ts'
import type { BuiltEstates } from './build-estates.ts'
import type { BuiltParcels } from './build-parcels.ts'
import { ASSET_TYPE_CODES, type PublicationParts, STATUS_CODES } from './parts.ts'
import { publicationOrders } from './publication-orders.ts'
import { SlabWriter } from './slab-writer.ts'

export interface BuiltPublications {
  readonly parts: PublicationParts
  readonly firstOfParcel: Int32Array
  readonly firstOfEstate: Int32Array
}

interface Assets {
  readonly parcels: BuiltParcels
  readonly estates: BuiltEstates
}

/** What stays of a publication while the orders are made; of the open ones also their JSON. */
interface Listed {
  readonly key: number
  readonly txHash: string
  readonly price: string
  readonly createdAtMs: number
  readonly expiresAtMs: number
  readonly updatedAtMs: number | null
  readonly blockTimeMs: number
  readonly assetType: 'parcel' | 'estate'
  readonly asset: number
  readonly status: PublicationTable['status']
  readonly json: string | undefined
}

const PAGE_ROWS = 2000

export async function buildPublications(db: Db, worldId: number, assets: Assets): Promise<BuiltPublications> {
  const listed = await readPublications(db, worldId, assets)
  // By code unit, not by a database's collation: pages must be the same on both engines.
  listed.sort((a, b) => (a.txHash < b.txHash ? -1 : a.txHash > b.txHash ? 1 : a.key - b.key))
  const open = listed.filter(({ json }) => json !== undefined)
  const openJson = new SlabWriter()
  for (const { json } of open) openJson.add(json!)
  const openNumber = new Map(open.map((publication, number) => [publication, number]))
  const chains = chainOffers(open, openNumber, assets)
  const { parcels, estates } = assets
  return {
    firstOfParcel: chains.firstOfParcel,
    firstOfEstate: chains.firstOfEstate,
    parts: {
      key: Uint32Array.from(listed, ({ key }) => key),
      assetType: Uint8Array.from(listed, ({ assetType }) => ASSET_TYPE_CODES[assetType]),
      asset: Int32Array.from(listed, (one) => (isListable(one, estates, parcels) ? one.asset : -1)),
      status: Uint8Array.from(listed, ({ status }) => STATUS_CODES[status]),
      open: Int32Array.from(listed, (one) => openNumber.get(one) ?? -1),
      orders: publicationOrders({
        price: listed.map(({ price }) => price),
        created_at: Float64Array.from(listed, ({ createdAtMs }) => createdAtMs),
        expires_at: Float64Array.from(listed, ({ expiresAtMs }) => expiresAtMs),
        block_time_updated_at: Float64Array.from(listed, ({ updatedAtMs }) => updatedAtMs ?? Number.NaN),
      }),
      openJson: openJson.finish(),
      openExpiresAtMs: Float64Array.from(open, ({ expiresAtMs }) => expiresAtMs),
      openKey: Uint32Array.from(open, ({ key }) => key),
      openNext: chains.next,
    },
  }
}

async function readPublications(db: Db, worldId: number, assets: Assets): Promise<Listed[]> {
  const listed: Listed[] = []
  for (let lastKey = -1; ; lastKey = listed.at(-1)!.key) {
    const page = await db
      .selectFrom('publication')
      .selectAll()
      .where('world_id', '=', worldId)
      .where('key', '>', lastKey)
      .orderBy('key')
      .limit(PAGE_ROWS)
      .execute()
    for (const row of page) listed.push(listedOf(row, assets))
    if (page.length < PAGE_ROWS) return listed
  }
}

function listedOf(row: PublicationTable, { parcels, estates }: Assets): Listed {
  const coord = row.asset_type === 'parcel' ? parseCoord(row.asset_id) : undefined
  return {
    key: row.key,
    txHash: row.tx_hash,
    price: row.price,
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms,
    updatedAtMs: row.block_time_updated_at_ms,
    blockTimeMs: row.block_time_created_at_ms,
    assetType: row.asset_type,
    asset: coord ? parcels.rowOf(coord) : estates.rowOf(row.asset_id),
    status: row.status,
    json: row.status === 'open' ? publicationJson(row) : undefined,
  }
}

function isListable({ assetType, asset }: Listed, estates: BuiltEstates, parcels: BuiltParcels): boolean {
  if (asset < 0) return false
  return assetType === 'parcel' ? asset < parcels.x.length : estates.size[asset]! > 0
}

/** Links the open publications of each asset, newest first. */
function chainOffers(
  open: readonly Listed[],
  numberOf: ReadonlyMap<Listed, number>,
  { parcels, estates }: Assets,
) {
  const firstOfParcel = new Int32Array(parcels.x.length).fill(-1)
  const firstOfEstate = new Int32Array(estates.ids.length).fill(-1)
  const next = new Int32Array(open.length).fill(-1)
  const oldestFirst = [...open].sort((a, b) => a.blockTimeMs - b.blockTimeMs || a.key - b.key)
  for (const one of oldestFirst) {
    if (one.asset < 0) continue
    const first = one.assetType === 'parcel' ? firstOfParcel : firstOfEstate
    const number = numberOf.get(one)!
    next[number] = first[one.asset]!
    first[one.asset] = number
  }
  return { firstOfParcel, firstOfEstate, next }
}
