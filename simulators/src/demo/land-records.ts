import { coordText, tokenIdText } from '@landpass/client/grid'
import type { AssetData } from '@landpass/server/land/records/assets'
import type { Registries } from '@landpass/server/land/records/contracts'
import type { DistrictRecord } from '@landpass/server/land/records/district'
import type { EstateRecord } from '@landpass/server/land/records/estate'
import type { ParcelRecord, Proximity } from '@landpass/server/land/records/parcel'
import type { Random } from '../random.ts'
import type { Asset, EstatePlan } from './assets.ts'
import { AUCTION_END_S, iso, PRESENT_S } from './chain-time.ts'
import { type CityPlan, FAR } from './city-plan.ts'
import { PLAZA_DISTRICT_ID, ROAD_DISTRICT_ID, themeOf } from './district-names.ts'
import { AWKWARD_NAMES, placeDescription, placeIpns, placeName } from './names.ts'

/** Holds the parcels of all districts but the plazas and the roads. */
const DISTRICT_HOLDER = '0x5f0c4d1b7a9e23864b10ce5d92f7a3886e41bd07'
const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

export function districtRecords({ grid, districts }: CityPlan, random: Random): DistrictRecord[] {
  const seen = new Map<string, number>()
  return districts.map(({ kind, disabled, cells }) => {
    const at = seen.get(kind) ?? 0
    seen.set(kind, at + 1)
    const { name, description } = themeOf(kind, at)
    const drawn = random.uuid()
    return {
      id: kind === 'plaza' ? PLAZA_DISTRICT_ID : kind === 'road' ? ROAD_DISTRICT_ID : drawn,
      name,
      description,
      link: `https://districts.example.org/${kind}-${at + 1}`,
      public: kind !== 'plaza' && kind !== 'road',
      disabled,
      parcel_count: cells.length,
      center: coordText(grid.coord(centerOf(grid, cells))),
      parcels: cells.map((cell) => coordText(grid.coord(cell))),
    }
  })
}

/** The cell nearest to the mean of all; everything times their number, to stay with whole numbers. */
function centerOf(grid: CityPlan['grid'], cells: readonly number[]): number {
  const count = cells.length
  const sumX = cells.reduce((sum, cell) => sum + grid.x(cell), 0)
  const sumY = cells.reduce((sum, cell) => sum + grid.y(cell), 0)
  let best = cells[0]!
  let bestDistance = Number.MAX_SAFE_INTEGER
  for (const cell of cells) {
    const dx = count * grid.x(cell) - sumX
    const dy = count * grid.y(cell) - sumY
    const distance = dx * dx + dy * dy
    if (distance >= bestDistance) continue
    best = cell
    bestDistance = distance
  }
  return best
}

export function estateRecords(
  estates: readonly EstatePlan[],
  { grid }: CityPlan,
  random: Random,
): EstateRecord[] {
  return estates.map(({ id, cells, createdS, joinedS, asset }) => {
    const createdMs = createdS * 1000 + random.between(3000, 90_000)
    const changedS = asset.lastChangeS ?? createdS
    const touchedS = Math.max(changedS, joinedS.at(-1) ?? createdS)
    return {
      id,
      tx_hash: random.hash(),
      token_id: id,
      owner: asset.owner,
      operator: random.chance(3) ? random.address() : null,
      update_operator: updateOperator(random),
      data: {
        version: 0,
        name: random.chance(80) ? placeName(random) : '',
        description: placeDescription(random),
        ipns: placeIpns(random),
        parcels: cells.map((cell) => grid.coord(cell)),
      },
      last_transferred_at: String(changedS * 1000),
      district_id: null,
      created_at: iso(createdMs),
      updated_at: iso(touchedS > createdS ? touchedS * 1000 + random.between(3000, 90_000) : createdMs),
    }
  })
}

/** What parcel records need to know. */
export interface ParcelSources {
  readonly plan: CityPlan
  readonly districts: readonly DistrictRecord[]
  readonly byCell: readonly (Asset | undefined)[]
  readonly registries: Registries
}

/** All parcels by x, then y. One at a time: the whole world as objects would be a hundred megabytes. */
export function* parcelRecords(
  { plan, districts, byCell, registries }: ParcelSources,
  random: Random,
): Generator<ParcelRecord> {
  const { grid, districtOf, inWorld } = plan
  const awkward = [...AWKWARD_NAMES]
  for (const cell of grid.all()) {
    if (!inWorld[cell]) continue
    const { x, y } = grid.coord(cell)
    const createdMs = AUCTION_END_S * 1000 + cell * 41
    const place: Place = { id: `${x},${y}`, x, y, token_id: tokenIdText({ x, y }) }
    const district = districts[districtOf[cell]!]
    const asset = byCell[cell]
    if (district || !asset) {
      const owner = district?.public ? DISTRICT_HOLDER : null
      yield unsold(place, { owner, district, tags: district ? {} : proximity(plan, cell), createdMs })
      continue
    }
    const name = asset.offer && asset.offer.expiresS > PRESENT_S ? awkward.pop() : undefined
    const holder = asset.estateId === undefined ? asset.owner : registries.estate
    yield sold(place, { asset, holder, name, createdMs, tags: proximity(plan, cell) }, random)
  }
}

type Place = Pick<ParcelRecord, 'id' | 'x' | 'y' | 'token_id'>

// Each record is written out as one literal: put together with `...`, 90,601 of them took three times as long.

function unsold(
  { id, x, y, token_id }: Place,
  {
    owner,
    district,
    tags,
    createdMs,
  }: {
    owner: string | null
    district: DistrictRecord | undefined
    tags: ParcelRecord['tags']
    createdMs: number
  },
): ParcelRecord {
  const createdAt = iso(createdMs)
  return {
    id,
    x,
    y,
    token_id,
    owner,
    operator: null,
    update_operator: null,
    data: { version: 0 },
    district_id: district?.id ?? null,
    estate_id: null,
    tags,
    auction_price: null,
    auction_owner: null,
    auction_timestamp: null,
    last_transferred_at: null,
    created_at: createdAt,
    updated_at: createdAt,
  }
}

function sold(
  { id, x, y, token_id }: Place,
  {
    asset,
    holder,
    name,
    createdMs,
    tags,
  }: {
    asset: Asset
    /** Who owns the token: of a parcel in an estate, the registry. */
    holder: string
    name: string | undefined
    createdMs: number
    tags: ParcelRecord['tags']
  },
  random: Random,
): ParcelRecord {
  const changedS = asset.estateId === undefined ? asset.lastChangeS : asset.closesS
  const isAuctioned = changedS === undefined || random.chance(84)
  const data = name === undefined ? parcelData(random) : { version: 0, name, description: '', ipns: '' }
  const touchedMs = changedS === undefined ? createdMs : changedS * 1000 + random.between(3000, 90_000)
  const spanS = Math.floor((PRESENT_S * 1000 - touchedMs) / 1000) - 60
  const isEdited = data.name !== undefined && spanS > 0
  return {
    id,
    x,
    y,
    token_id,
    owner: holder,
    operator: random.chance(2) ? random.address() : null,
    update_operator: updateOperator(random),
    data,
    district_id: null,
    estate_id: asset.estateId ?? null,
    tags,
    auction_price: isAuctioned ? asset.value : null,
    auction_owner: isAuctioned ? asset.firstOwner : null,
    auction_timestamp: null,
    last_transferred_at: changedS === undefined ? null : String(changedS * 1000),
    created_at: iso(createdMs),
    updated_at: iso(isEdited ? touchedMs + random.below(spanS) * 1000 : touchedMs),
  }
}

function updateOperator(random: Random): string | null {
  const draw = random.below(200)
  if (draw === 0) return ZERO_ADDRESS
  return draw < 8 ? random.address() : null
}

function parcelData(random: Random): AssetData {
  const draw = random.below(100)
  if (draw < 84) return { version: 0 }
  if (draw < 86) return { version: 0, name: '', description: '', ipns: '' }
  const name = placeName(random)
  if (draw < 88) return { version: 0, name }
  return { version: 0, name, description: placeDescription(random), ipns: placeIpns(random) }
}

function proximity({ plazaDistance, roadDistance }: CityPlan, cell: number): ParcelRecord['tags'] {
  const plaza = nearest(PLAZA_DISTRICT_ID, plazaDistance[cell]!)
  const road = nearest(ROAD_DISTRICT_ID, roadDistance[cell]!)
  if (!plaza && !road) return {}
  return { proximity: { ...(plaza && { plaza }), ...(road && { road }) } }
}

function nearest(districtId: string, distance: number): Proximity | undefined {
  return distance === FAR ? undefined : { district_id: districtId, distance }
}
