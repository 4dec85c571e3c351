import { sql } from 'kysely'
import type { Tx } from '../../db/transaction.ts'
import type { AssetName } from '../records/assets.ts'

/** Kinds of parcels and estates that a sample must show, however few of them there are. */
export const SAMPLE_KINDS = [
  'any',
  'estate',
  'listed',
  'bid',
  'member',
  'mortgage',
  'rented',
  'signed',
] as const
export type SampleKind = (typeof SAMPLE_KINDS)[number]

/**
 * For each kind, parcels and estates of this kind in an order that the seed decides.
 *
 * @param size the most of each kind
 */
export async function readSampleKinds(
  tx: Tx,
  worldId: number,
  { seed, size }: { readonly seed: number; readonly size: number },
): Promise<Readonly<Record<SampleKind, readonly AssetName[]>>> {
  const found = {} as Record<SampleKind, readonly AssetName[]>
  for (const kind of SAMPLE_KINDS) {
    // The hash depends on nothing but the seed and the asset: other rows do not change who comes first.
    const { rows } = await sql<AssetName>`
      select type, id from (${ASSETS_OF[kind](worldId)}) as asset
      order by md5(${String(seed)}::text || ' ' || type || ' ' || id), type, id limit ${size}`.execute(tx)
    found[kind] = rows
  }
  return found
}

const parcelsWhere = (worldId: number, condition = sql<boolean>`true`) => sql<AssetName>`
  select 'parcel' as type, x || ',' || y as id from parcel where world_id = ${worldId} and ${condition}`
const estatesWhere = (worldId: number, condition = sql<boolean>`true`) => sql<AssetName>`
  select 'estate' as type, id from estate where world_id = ${worldId} and ${condition}`

const ASSETS_OF: Readonly<Record<SampleKind, (worldId: number) => ReturnType<typeof sql<AssetName>>>> = {
  any: parcelsWhere,
  estate: estatesWhere,
  listed: (worldId) => sql`
    select distinct asset_type as type, asset_id as id from publication
    where world_id = ${worldId} and trade_id is null and (status = 'open' or closed_by = 'moved')`,
  bid: (worldId) => sql`
    select distinct asset_type as type, asset_id as id from bid
    where world_id = ${worldId} and (status = 'open' or closed_by = 'fingerprint')`,
  member: (worldId) => parcelsWhere(worldId, sql`estate_id is not null`),
  mortgage: (worldId) => sql`
    select distinct asset_type as type, asset_id as id from mortgage where world_id = ${worldId}`,
  signed: (worldId) => sql`
    select distinct asset_type as type, asset_id as id from signed_trade join listings_reading on name = reading
    where world_id = ${worldId} and is_signed`,
  rented: (worldId) => sql`
    ${parcelsWhere(worldId, sql`holder is not null`)} union all ${estatesWhere(worldId, sql`holder is not null`)}`,
}
