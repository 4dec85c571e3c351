import type { Coord } from '@landpass/client/grid'
import { type RawBuilder, sql } from 'kysely'
import type { LandRightTable } from '../../db/schema.ts'
import type { Tx } from '../../db/transaction.ts'
import type { AssetName } from '../records/assets.ts'
import type { BidTable } from '../records/bid.ts'
import type { EstateTable } from '../records/estate.ts'
import type { MortgageTable } from '../records/mortgage.ts'
import type { ParcelTable } from '../records/parcel.ts'
import type { PublicationTable } from '../records/publication.ts'
import { type CheckedOffer, readCheckedOffers } from './checked-offers.ts'

const ASSET_COLUMNS = [
  'owner',
  'operator',
  'update_operator',
  'data_version',
  'name',
  'description',
  'ipns',
  'data_text',
  'approvals_for_all',
  'update_managers',
  'holder',
  'tenant',
  'rented_until_ms',
] as const
const PARCEL_COLUMNS = ['x', 'y', 'estate_id', ...ASSET_COLUMNS] as const
const ESTATE_COLUMNS = ['id', 'fingerprint', 'registry_order', ...ASSET_COLUMNS] as const
const PUBLICATION_COLUMNS = [
  'asset_id',
  'asset_type',
  'marketplace_address',
  'contract_id',
  'owner',
  'price',
  'expires_at_ms',
  'status',
  'closed_by',
] as const
const BID_COLUMNS = [
  'asset_id',
  'asset_type',
  'id',
  'bidder',
  'seller',
  'price',
  'expires_at_ms',
  'fingerprint',
  'status',
  'closed_by',
] as const
const MORTGAGE_COLUMNS = [
  'mortgage_id',
  'loan_id',
  'asset_id',
  'borrower',
  'lender',
  'status',
  'amount',
  'paid',
  'interest_rate',
  'punitory_interest_rate',
  'due_in_s',
  'is_due_at_s',
  'payable_at_s',
  'expires_at_ms',
] as const

export type CheckedParcel = Pick<ParcelTable, (typeof PARCEL_COLUMNS)[number]>
export type CheckedEstate = Pick<EstateTable, (typeof ESTATE_COLUMNS)[number]>
export type CheckedPublication = Pick<PublicationTable, (typeof PUBLICATION_COLUMNS)[number]>
export type CheckedBid = Pick<BidTable, (typeof BID_COLUMNS)[number]>
export type CheckedMortgage = Pick<MortgageTable, (typeof MORTGAGE_COLUMNS)[number]>

export type CheckedRight = Omit<LandRightTable, 'world_id'>

/** Rows that contracts can be asked about. */
export interface CheckedLand {
  readonly parcels: readonly CheckedParcel[]
  readonly estates: readonly CheckedEstate[]
  /** The parcels of each of these estates. */
  readonly members: readonly (Coord & { readonly estate_id: string })[]
  /** Those that a marketplace stores, and those of which it is unknown why they are closed. */
  readonly publications: readonly CheckedPublication[]
  /** Likewise. */
  readonly bids: readonly CheckedBid[]
  readonly mortgages: readonly CheckedMortgage[]
  /** Those that were signed off the chain. */
  readonly offers: readonly CheckedOffer[]
  /** The rights on land of the owners and holders of these parcels and estates, and of the estates of these parcels. */
  readonly rights: readonly CheckedRight[]
}

/** How many assets there are, to be compared with the numbers of the registries. */
export interface LandTotals {
  readonly ownedParcels: number
  readonly estateIds: readonly string[]
}

export async function readLandTotals(tx: Tx, worldId: number): Promise<LandTotals> {
  const { owned } = await tx
    .selectFrom('parcel')
    .select(sql<number>`count(*)::integer`.as('owned'))
    .where('world_id', '=', worldId)
    .where('owner', 'is not', null)
    .executeTakeFirstOrThrow()
  const estates = await tx.selectFrom('estate').select('id').where('world_id', '=', worldId).execute()
  return { ownedParcels: owned, estateIds: estates.map(({ id }) => id) }
}

/** The rows of a world that are of no single parcel or estate. */
export async function readLandWithoutAssets(tx: Tx, worldId: number): Promise<CheckedLand> {
  const every = sql<boolean>`true`
  return {
    parcels: [],
    estates: [],
    members: [],
    publications: [],
    bids: [],
    offers: [],
    mortgages: await readMortgages(tx, worldId, every),
    rights: await readRights(tx, worldId, every),
  }
}

/** Every row of a world. */
export async function readWholeLand(tx: Tx, worldId: number): Promise<CheckedLand> {
  const every = sql<boolean>`true`
  const parcels = await readParcels(tx, worldId, every)
  return {
    parcels,
    estates: await readEstates(tx, worldId, every),
    members: await readMembers(tx, worldId, undefined),
    publications: await readPublications(tx, worldId, every),
    bids: await readBids(tx, worldId, every),
    offers: await readCheckedOffers(tx, worldId, every),
    mortgages: await readMortgages(tx, worldId, every),
    rights: await readRights(tx, worldId, every),
  }
}

/** The rows of some parcels and estates. */
export async function readLandOf(
  tx: Tx,
  worldId: number,
  assets: readonly AssetName[],
): Promise<CheckedLand> {
  const parcelIds = idsOf(assets, 'parcel')
  const estateIds = idsOf(assets, 'estate')
  const [types, ids] = [assets.map(({ type }) => type), assets.map(({ id }) => id)]
  const isOfAssets = sql<boolean>`(asset_type, asset_id) in (select * from unnest(${types}::text[], ${ids}::text[]))`
  const parcels = await readParcels(
    tx,
    worldId,
    sql`(x, y) in (select split_part(id, ',', 1)::integer, split_part(id, ',', 2)::integer
      from unnest(${parcelIds}::text[]) as id)`,
  )
  const estatesOfParcels = parcels.flatMap(({ estate_id }) => (estate_id === null ? [] : [estate_id]))
  const named = [...new Set([...estateIds, ...estatesOfParcels])]
  const estates = await readEstates(tx, worldId, sql`id = any(${named}::text[])`)
  const holders = [...parcels, ...estates].flatMap(({ holder, owner }) => holder ?? owner ?? [])
  return {
    parcels,
    estates: estates.filter(({ id }) => estateIds.includes(id)),
    members: await readMembers(tx, worldId, estateIds),
    publications: await readPublications(tx, worldId, isOfAssets),
    bids: await readBids(tx, worldId, isOfAssets),
    offers: await readCheckedOffers(tx, worldId, isOfAssets),
    mortgages: await readMortgages(tx, worldId, isOfAssets),
    rights: await readRights(tx, worldId, sql`owner = any(${[...new Set(holders)]}::text[])`),
  }
}

function idsOf(assets: readonly AssetName[], type: AssetName['type']): readonly string[] {
  return assets.filter((asset) => asset.type === type).map(({ id }) => id)
}

type Condition = RawBuilder<boolean>

function readParcels(tx: Tx, worldId: number, where: Condition): Promise<CheckedParcel[]> {
  return tx
    .selectFrom('parcel')
    .select(PARCEL_COLUMNS)
    .where('world_id', '=', worldId)
    .where(where)
    .orderBy('x')
    .orderBy('y')
    .execute()
}

function readEstates(tx: Tx, worldId: number, where: Condition): Promise<CheckedEstate[]> {
  return tx
    .selectFrom('estate')
    .select(ESTATE_COLUMNS)
    .where('world_id', '=', worldId)
    .where(where)
    .orderBy(sql`length(id)`)
    .orderBy('id')
    .execute()
}

/**
 * In the order in which they joined.
 *
 * @param estateIds undefined: of all estates
 */
async function readMembers(tx: Tx, worldId: number, estateIds: readonly string[] | undefined) {
  const rows = await tx
    .selectFrom('parcel')
    .select(['x', 'y', 'estate_id'])
    .where('world_id', '=', worldId)
    .where(
      estateIds ? sql<boolean>`estate_id = any(${estateIds}::text[])` : sql<boolean>`estate_id is not null`,
    )
    .orderBy('estate_position')
    .execute()
  return rows.map(({ x, y, estate_id }) => ({ x, y, estate_id: estate_id! }))
}

/** A marketplace stores open publications, and those whose asset has left its seller. */
function readPublications(tx: Tx, worldId: number, where: Condition): Promise<CheckedPublication[]> {
  return tx
    .selectFrom('publication')
    .select(PUBLICATION_COLUMNS)
    .where('world_id', '=', worldId)
    .where('trade_id', 'is', null)
    .where(
      sql<boolean>`(status = 'open' or closed_by = 'moved' or (status = 'cancelled' and closed_by is null))`,
    )
    .where(where)
    .orderBy('key')
    .execute()
}

/** The contract keeps open bids, and those for other parcels than the estate has now. */
function readBids(tx: Tx, worldId: number, where: Condition): Promise<CheckedBid[]> {
  return tx
    .selectFrom('bid')
    .select(BID_COLUMNS)
    .where('world_id', '=', worldId)
    .where(
      sql<boolean>`(status = 'open' or closed_by = 'fingerprint' or (status = 'cancelled' and closed_by is null))`,
    )
    .where(where)
    .orderBy('key')
    .execute()
}

function readMortgages(tx: Tx, worldId: number, where: Condition): Promise<CheckedMortgage[]> {
  return tx
    .selectFrom('mortgage')
    .select(MORTGAGE_COLUMNS)
    .where('world_id', '=', worldId)
    .where(where)
    .orderBy('key')
    .execute()
}

function readRights(tx: Tx, worldId: number, where: Condition): Promise<CheckedRight[]> {
  return tx
    .selectFrom('land_right')
    .select(['kind', 'registry', 'owner', 'operator'])
    .where('world_id', '=', worldId)
    .where(where)
    .execute()
}
