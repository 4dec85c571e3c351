import { encodeTokenId } from '@landpass/client/grid'
import type { Db } from '../../../src/db/engine.ts'
import { readLandHead } from '../../../src/land/changes/land-head.ts'
import type { EstateTable } from '../../../src/land/records/estate.ts'
import { ExactNumber } from '../../../src/land/records/exact-json.ts'
import type { ParcelTable } from '../../../src/land/records/parcel.ts'
import type { PublicationTable } from '../../../src/land/records/publication.ts'
import { ESTATE_REGISTRY, LAND_REGISTRY } from './registries.ts'

/** A tile as an object; a field that it does not have is missing. */
export type ReferenceTile = Readonly<Record<string, unknown>>

/**
 * What `/v2/tiles` has to answer, worked out a second time from the rows of the tables and as plainly as possible:
 * nothing is kept, nothing is shared with the server, everything is looked for. Read it beside docs/tiles.md.
 */
export class ReferenceTiles {
  private readonly parcels: readonly ParcelTable[]
  private readonly estates: ReadonlyMap<string, EstateTable>
  private readonly publications: readonly PublicationTable[]
  private readonly districts: ReadonlyMap<string, string>

  private constructor(
    parcels: readonly ParcelTable[],
    estates: readonly EstateTable[],
    publications: readonly PublicationTable[],
    districts: readonly { readonly id: string; readonly name: string }[],
  ) {
    this.districts = new Map(districts.map(({ id, name }) => [id, name]))
    this.parcels = [...parcels].sort((a, b) => a.x - b.x || b.y - a.y)
    this.estates = new Map(estates.map((estate) => [estate.id, estate]))
    // The newest first
    this.publications = [...publications].sort(
      (a, b) => b.block_time_created_at_ms - a.block_time_created_at_ms || b.key - a.key,
    )
  }

  /** Reads the world that is shown now. */
  static async read(db: Db): Promise<ReferenceTiles> {
    const { worldId } = await readLandHead(db)
    if (worldId === null) throw new Error('there is no world to read')
    return new ReferenceTiles(
      await db.selectFrom('parcel').selectAll().where('world_id', '=', worldId).execute(),
      await db.selectFrom('estate').selectAll().where('world_id', '=', worldId).execute(),
      await db.selectFrom('publication').selectAll().where('world_id', '=', worldId).execute(),
      await db.selectFrom('district').select(['id', 'name']).where('world_id', '=', worldId).execute(),
    )
  }

  /** All tiles at a time, by key, in the order in which they are answered. */
  at(nowMs: number): Map<string, ReferenceTile> {
    const places = new Map(this.parcels.map((parcel) => [`${parcel.x},${parcel.y}`, parcel]))
    const roads = new Set(this.parcels.map(({ road_district_id }) => road_district_id))
    const plazas = new Set(this.parcels.map(({ plaza_district_id }) => plaza_district_id))
    const shown = this.offersAt(nowMs)
    const tiles = new Map<string, ReferenceTile>()
    for (const parcel of this.parcels) {
      const { x, y, district_id: district } = parcel
      const estate = parcel.estate_id === null ? undefined : this.estates.get(parcel.estate_id)!
      const offer = (estate && shown.get(`estate ${estate.id}`)) ?? shown.get(`parcel ${x},${y}`)
      const kind = roads.has(district) ? 'road' : plazas.has(district) ? 'plaza' : 'district'
      const isJoined = (dx: number, dy: number) => belong(parcel, places.get(`${x + dx},${y + dy}`))
      const owner = estate ? estate.owner : parcel.owner
      const name = estate?.name || parcel.name
      tiles.set(`${x},${y}`, {
        id: `${x},${y}`,
        x,
        y,
        updatedAt: 1000 * Math.floor(Math.max(parcel.updated_at_ms, estate?.updated_at_ms ?? 0) / 1000),
        type: district !== null ? kind : parcel.owner === null ? 'unowned' : 'owned',
        top: isJoined(0, 1),
        left: isJoined(-1, 0),
        topLeft: isJoined(-1, 1),
        ...(name ? { name } : {}),
        ...(estate ? { estateId: estate.id } : {}),
        ...(district === null ? {} : { district_id: district }),
        ...(owner === null ? {} : { owner }),
        ...(offer ? { price: new ExactNumber(offer.price) } : {}),
        ...(offer ? { expiresAt: Math.floor(offer.expires_at_ms / 1000) } : {}),
        tokenId: String(encodeTokenId({ x, y })),
        nftId: estate
          ? `estate-${ESTATE_REGISTRY}-${estate.id}`
          : `parcel-${LAND_REGISTRY}-${encodeTokenId({ x, y })}`,
      })
    }
    return tiles
  }

  /** All tiles at a time as `/v1/tiles` has them, by key. With fields: made of those alone. */
  legacyAt(nowMs: number, fields?: readonly string[]): Map<string, ReferenceTile> {
    const tiles = this.at(nowMs)
    const legacy = new Map<string, ReferenceTile>()
    for (const { x, y, district_id } of this.parcels) {
      const key = `${x},${y}`
      const tile = tiles.get(key)!
      const name = tile.type === 'district' ? this.districts.get(district_id!) : undefined
      const isKept = (field: string) => fields?.includes(field) ?? true
      const kept = Object.fromEntries(Object.entries(tile).filter(([field]) => isKept(field)))
      legacy.set(key, legacyTile(kept, isKept('name') ? name : undefined))
    }
    return legacy
  }

  /** The newest open offer of each asset that has not expired. */
  private offersAt(nowMs: number): ReadonlyMap<string, PublicationTable> {
    const shown = new Map<string, PublicationTable>()
    for (const offer of this.publications) {
      const asset = `${offer.asset_type} ${offer.asset_id}`
      if (offer.status === 'open' && offer.expires_at_ms > nowMs && !shown.has(asset)) shown.set(asset, offer)
    }
    return shown
  }
}

/** Parcels of one estate, or of one district where neither is in an estate. */
function belong(parcel: ParcelTable, neighbour: ParcelTable | undefined): boolean {
  if (!neighbour) return false
  if (parcel.estate_id !== null) return neighbour.estate_id === parcel.estate_id
  return (
    neighbour.estate_id === null &&
    parcel.district_id !== null &&
    neighbour.district_id === parcel.district_id
  )
}

const LEGACY_TYPES: Readonly<Record<string, number>> = {
  district: 5,
  road: 7,
  plaza: 8,
  owned: 9,
  unowned: 11,
}

/**
 * The same tile as `/v1/tiles` has it.
 *
 * @param districtName of its district, where the tile is one of a district and shows its name
 */
function legacyTile(tile: ReferenceTile, districtName?: string): ReferenceTile {
  const legacy: Record<string, unknown> = {}
  if (tile.type !== undefined) legacy.type = tile.price === undefined ? LEGACY_TYPES[String(tile.type)] : 10
  for (const field of ['x', 'y']) if (tile[field] !== undefined) legacy[field] = tile[field]
  for (const join of ['top', 'left', 'topLeft']) if (tile[join]) legacy[join] = 1
  for (const field of ['owner', 'name']) if (tile[field] !== undefined) legacy[field] = tile[field]
  if (districtName !== undefined) legacy.name = districtName
  if (tile.estateId !== undefined) legacy.estate_id = tile.estateId
  if (tile.district_id !== undefined) legacy.district_id = tile.district_id
  if (tile.price !== undefined) legacy.price = tile.price
  return legacy
}
