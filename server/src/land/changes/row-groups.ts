import { type RawBuilder, sql } from 'kysely'
import type { EventRows, EventTable } from '../events/land-rows.ts'
import type { AssetName } from '../records/assets.ts'
import { assetText, type Owner, ownerText } from './named-rows.ts'

/** Groups of rows that are asked for together: the bids for each asset, say. */
export interface Groups<Member> {
  /** What {@link groupsOf} answers for the rows of the group. */
  readonly name: (member: Member) => string
  /** Selects the rows of several groups. */
  readonly where: (members: readonly Member[]) => RawBuilder<unknown>
}

/** Publications or bids. */
export const OF_ASSET: Groups<AssetName> = {
  name: assetText,
  where: (assets) => {
    const [ids, types] = [assets.map(({ id }) => id), assets.map(({ type }) => type)]
    return sql`(asset_id, asset_type) in (select * from unnest(${ids}::text[], ${types}::text[]))`
  },
}

/** Parcels, by the id of the estate. */
export const OF_ESTATE: Groups<string> = {
  name: (id) => `estate ${id}`,
  where: (ids) => sql`estate_id = any(${ids}::text[])`,
}

/** Parcels or estates, by the address. */
export const OF_OWNER: Groups<string> = {
  name: (owner) => `owner ${owner}`,
  where: (owners) => sql`owner = any(${owners}::text[])`,
}

/** Rights. */
export const GRANTED_BY: Groups<Owner> = {
  name: ownerText,
  where: (owners) => {
    const registries = owners.map(({ registry }) => registry)
    const addresses = owners.map(({ owner }) => owner)
    return sql`(registry, owner) in (select * from unnest(${registries}::text[], ${addresses}::text[]))`
  },
}

/** Mortgages. */
export const OF_MORTGAGE: Groups<number> = {
  name: (id) => `mortgage ${id}`,
  where: (ids) => sql`mortgage_id = any(${bigints(ids)}::bigint[])`,
}
export const OF_LOAN: Groups<number> = {
  name: (id) => `loan ${id}`,
  where: (ids) => sql`loan_id = any(${bigints(ids)}::bigint[])`,
}

/** The groups of the table that a row is in. */
export function groupsOf(table: EventTable, row: EventRows[EventTable]): readonly string[] {
  return (GROUPS[table] as (row: EventRows[EventTable]) => readonly string[])(row)
}

const ofAsset = ({ asset_type, asset_id }: EventRows['publication'] | EventRows['bid']) => [
  OF_ASSET.name({ type: asset_type, id: asset_id }),
]

const GROUPS: { readonly [Table in EventTable]: (row: EventRows[Table]) => readonly string[] } = {
  parcel: ({ estate_id, owner }) => [
    ...(estate_id === null ? [] : [OF_ESTATE.name(estate_id)]),
    ...(owner === null ? [] : [OF_OWNER.name(owner)]),
  ],
  estate: ({ owner }) => [OF_OWNER.name(owner)],
  publication: ofAsset,
  bid: ofAsset,
  mortgage: ({ mortgage_id, loan_id }) => [OF_MORTGAGE.name(mortgage_id), OF_LOAN.name(loan_id)],
  land_right: (right) => [GRANTED_BY.name(right)],
  trade_signature: () => [],
  trade_index: () => [],
}

function bigints(values: readonly number[]): string {
  return `{${values.join(',')}}`
}
