import { type Coord, parseCoord } from '@landpass/client/grid'
import { type AssetName, ZERO_ADDRESS } from '../records/assets.ts'
import { estateFingerprint } from './fingerprints.ts'
import type { LogPlace } from './land-event.ts'
import { type Awaitable, type EstateRow, type ParcelRow, whenRead } from './land-rows.ts'
import type { Step } from './rule-context.ts'

/** How many parcels an asset has. */
export async function sizeOf({ rows }: Step, { type, id }: AssetName): Promise<number> {
  return type === 'parcel' ? 1 : (await rows.parcelsOfEstate(id)).length
}

// Rows are written out, and rules copy them by literals that begin with `...row`, the only `...` in them: V8 copies the row as
// a whole then, and column by column otherwise.

/**
 * A parcel that nobody owns and of which nothing is known, as an import writes it.
 *
 * @example
 * emptyParcel({ x: 3, y: -4 }, 0) // { x: 3, y: -4, owner: null, …, data_version: 0, …, created_at_ms: 0, updated_at_ms: 0 }
 */
export function emptyParcel({ x, y }: Coord, createdAtMs: number): ParcelRow {
  return {
    x,
    y,
    owner: null,
    operator: null,
    update_operator: null,
    data_version: 0,
    name: null,
    description: null,
    ipns: null,
    data_text: null,
    district_id: null,
    district_position: null,
    estate_id: null,
    estate_position: null,
    plaza_district_id: null,
    plaza_distance: null,
    road_district_id: null,
    road_distance: null,
    auction_price: null,
    auction_owner: null,
    auctioned_at_ms: null,
    auction_block_number: null,
    auction_tx_hash: null,
    auction_log_index: null,
    last_transferred_at_ms: null,
    created_at_ms: createdAtMs,
    updated_at_ms: createdAtMs,
    approvals_for_all: null,
    update_managers: null,
    holder: null,
    tenant: null,
    rented_until_ms: null,
  }
}

/** An estate without parcels. Its columns take no null for the owner: {@link ZERO_ADDRESS} until the owner is known. */
export function emptyEstate(id: string, at: LogPlace): EstateRow {
  return {
    id,
    token_id: id,
    tx_hash: at.txHash,
    owner: ZERO_ADDRESS,
    operator: null,
    update_operator: null,
    data_version: 0,
    name: null,
    description: null,
    ipns: null,
    data_text: null,
    last_transferred_at_ms: at.timeMs,
    district_id: null,
    created_at_ms: at.timeMs,
    updated_at_ms: at.timeMs,
    approvals_for_all: null,
    update_managers: null,
    holder: null,
    tenant: null,
    rented_until_ms: null,
    fingerprint: estateFingerprint(id, []),
    registry_order: null,
  }
}

/** The row of a parcel, which events may name before anything else does: it is created then. */
export function parcelAt({ rows, at }: Step, coord: Coord): Awaitable<ParcelRow> {
  return whenRead(rows.parcel(coord), (row) => {
    if (row) return row
    const created = emptyParcel(coord, at.timeMs)
    rows.put('parcel', created)
    return created
  })
}

/** The row of an estate; it is created when it is missing, so that a lost log costs no more than its own contents. */
export function estateOf({ rows, at }: Step, id: string): Awaitable<EstateRow> {
  return whenRead(rows.estate(id), (row) => {
    if (row) return row
    const created = emptyEstate(id, at)
    rows.put('estate', created)
    return created
  })
}

/** Like {@link parcelAt} and {@link estateOf}, where it does not matter which of the two it is. */
export function assetOf(step: Step, { type, id }: AssetName): Awaitable<ParcelRow | EstateRow> {
  return type === 'parcel' ? parcelAt(step, coordOf(id)) : estateOf(step, id)
}

/** Replaces the row of a parcel or an estate. */
export function changeAsset(
  step: Step,
  asset: AssetName,
  change: <Row extends ParcelRow | EstateRow>(row: Row) => Row,
): Awaitable<void> {
  const { rows } = step
  if (asset.type === 'parcel')
    return whenRead(parcelAt(step, coordOf(asset.id)), (row) => rows.put('parcel', change(row)))
  return whenRead(estateOf(step, asset.id), (row) => rows.put('estate', change(row)))
}

/** @throws {RangeError} for an id that is not that of a parcel: events name parcels by their coordinates */
export function coordOf(parcelId: string): Coord {
  const coord = parseCoord(parcelId)
  if (!coord) throw new RangeError(`no parcel id: ${parcelId}`)
  return coord
}
