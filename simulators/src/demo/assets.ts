import { tokenIdText } from '@landpass/client/grid'
import type { Random } from '../random.ts'
import { blockTimeS, DAY_S, ESTATES_START_S, MARKET_START_S, PRESENT_S } from './chain-time.ts'
import type { CityPlan } from './city-plan.ts'
import type { Cluster, Holdings } from './holdings.ts'
import { auctionPrice } from './values.ts'

/** Something that happened to an asset from one time to another: offered and then sold or taken back. */
export interface Deal {
  readonly kind: 'sold' | 'cancelled' | 'bid-sold'
  readonly fromS: number
  readonly toS: number
  readonly seller: string
  /** Undefined exactly when cancelled. */
  readonly buyer: string | undefined
}

/** An offer that is still open, by the present owner. */
export interface OpenOffer {
  readonly fromS: number
  readonly expiresS: number
}

/** A time during which an asset had one owner. */
export interface Tenure {
  readonly owner: string
  readonly fromS: number
  readonly toS: number
}

/**
 * A parcel or an estate, and its history. `stories.ts` fills in the mutable fields, once; their first values mean that
 * nothing has happened.
 *
 * Invariant: deals and the open offer follow each other in time and never overlap. Between `opensS` and
 * `closesS` the owner changes at `sold` and `bid-sold` deals and at `transferS`, and ends as `owner`.
 */
export interface Asset {
  readonly type: 'parcel' | 'estate'
  readonly id: string
  readonly tokenId: string
  readonly opensS: number
  /** The present, or when the parcel joined its estate. */
  readonly closesS: number
  readonly estateId: string | undefined
  /** What it cost, or would have cost, in the first sale. */
  readonly value: number
  /** The owner at `closesS`; for a parcel that joined an estate, the person who added it. */
  owner: string
  firstOwner: string
  /** When it was given away without a sale, if it ever was. */
  transferS: number | undefined
  lastChangeS: number | undefined
  deals: Deal[]
  offer: OpenOffer | undefined
  tenures: Tenure[]
}

export interface EstatePlan {
  readonly id: string
  readonly cells: readonly number[]
  readonly createdS: number
  /** Per cell of `cells`, when it joined. */
  readonly joinedS: readonly number[]
  readonly asset: Asset
}

export interface Assets {
  /** Per cell, the parcel that has or had an owner; undefined for districts and wild land. */
  readonly byCell: readonly (Asset | undefined)[]
  readonly parcels: readonly Asset[]
  readonly estates: readonly EstatePlan[]
}

const DISSOLVED = 15
const ESTATES_PER_1000_LOTS = 27

/** Makes parcels and estates out of the holdings. */
export function assetsOf(plan: CityPlan, { clusters, people }: Holdings, random: Random): Assets {
  const byCell: (Asset | undefined)[] = Array.from({ length: plan.grid.size }, () => undefined)
  const values = valuesOf(plan, clusters, random.fork('values'))
  const chosen = chooseEstates(clusters, random.fork('estates'))
  const estates = datesOf(chosen, people, random.fork('dates')).map(({ cluster, createdS }, at) =>
    makeEstate({ id: String(at + 1), cluster, createdS, values, people }, random),
  )
  for (const { id, cells, joinedS, asset } of estates) {
    cells.forEach((cell, at) => {
      const parcel = { owner: asset.firstOwner, closesS: joinedS[at]!, estateId: id, value: values[cell]! }
      byCell[cell] = makeParcel(plan, cell, parcel)
    })
  }
  for (const { cells, holder } of clusters) {
    for (const cell of cells) {
      const parcel = { owner: people[holder]!, closesS: PRESENT_S, estateId: undefined, value: values[cell]! }
      byCell[cell] ??= makeParcel(plan, cell, parcel)
    }
  }
  return { byCell, parcels: byCell.filter((parcel) => parcel !== undefined), estates }
}

function valuesOf(plan: CityPlan, clusters: readonly Cluster[], random: Random): Int32Array {
  const values = new Int32Array(plan.grid.size)
  for (const { cells } of clusters) for (const cell of cells) values[cell] = auctionPrice(plan, cell, random)
  return values
}

/** The largest holding, some large and middling ones, and many small ones. */
function chooseEstates(clusters: readonly Cluster[], random: Random): Cluster[] {
  const lots = clusters.reduce((sum, { cells }) => sum + cells.length, 0)
  const wanted = Math.max(8, Math.floor((lots * ESTATES_PER_1000_LOTS) / 1000))
  const [first, ...others] = clusters
  const shuffled = random.shuffle(others.filter(({ cells }) => cells.length > 1 && cells.length <= 100))
  const sized = (low: number, high: number, share: number) =>
    shuffled
      .filter(({ cells }) => cells.length >= low && cells.length <= high)
      .slice(0, Math.ceil(wanted * share))
  const chosen = [...sized(20, 100, 0.06), ...sized(11, 19, 0.07), ...sized(2, 10, 0.87)]
  // Most land stays outside of estates, also where the whole world is a few blocks.
  let room = Math.floor((lots * 2) / 5)
  return [...(first ? [first] : []), ...chosen].filter((cluster) => {
    if (cluster.cells.length < 2 || cluster.cells.length > room) return false
    room -= cluster.cells.length
    return true
  })
}

/** In order of creation, and among them a few that have been dissolved since. */
function datesOf(
  chosen: readonly Cluster[],
  people: readonly string[],
  random: Random,
): { cluster: Cluster; createdS: number }[] {
  const dissolved = Math.max(2, Math.min(DISSOLVED, Math.floor(chosen.length / 4)))
  const gone = Array.from({ length: dissolved }, () => ({ cells: [], holder: random.below(people.length) }))
  const clusters = random.shuffle([...chosen, ...gone])
  const span = PRESENT_S - 400 * DAY_S - ESTATES_START_S
  // Each estate has its own part of the time span, so that no two are created at the same time.
  const share = Math.floor(span / clusters.length)
  return clusters.map((cluster, at) => ({
    cluster,
    createdS: blockTimeS(ESTATES_START_S + at * share + 100 + random.below(share - 200)),
  }))
}

function makeEstate(
  estate: {
    id: string
    cluster: Cluster
    createdS: number
    values: Int32Array
    people: readonly string[]
  },
  random: Random,
): EstatePlan {
  const { id, cluster, createdS, values } = estate
  const { cells } = cluster
  const atFirst = Math.max(1, cells.length - (random.chance(25) ? random.below(cells.length + 1) : 0))
  let joined = createdS
  const joinedS = cells.map((_, at) => {
    if (at >= atFirst) joined = blockTimeS(joined + random.between(60, DAY_S / 4))
    return joined
  })
  const value = cells.reduce((sum, cell) => sum + values[cell]!, 0)
  const asset = makeAsset({
    type: 'estate',
    id,
    tokenId: id,
    owner: estate.people[cluster.holder]!,
    opensS: joined + DAY_S,
    closesS: PRESENT_S,
    estateId: undefined,
    value: value === 0 ? 6000 : value,
  })
  return { id, cells, createdS, joinedS, asset }
}

function makeParcel(
  { grid }: CityPlan,
  cell: number,
  parcel: Pick<Asset, 'owner' | 'closesS' | 'estateId' | 'value'>,
): Asset {
  const { x, y } = grid.coord(cell)
  const tokenId = tokenIdText({ x, y })
  const { owner, closesS, estateId, value } = parcel
  return makeAsset({
    type: 'parcel',
    id: `${x},${y}`,
    tokenId,
    owner,
    opensS: MARKET_START_S,
    closesS,
    estateId,
    value,
  })
}

type Fixed = Omit<Asset, 'firstOwner' | 'transferS' | 'lastChangeS' | 'deals' | 'offer' | 'tenures'>

function makeAsset({ type, id, tokenId, owner, opensS, closesS, estateId, value }: Fixed): Asset {
  return {
    type,
    id,
    tokenId,
    owner,
    opensS,
    closesS,
    estateId,
    value,
    firstOwner: owner,
    transferS: undefined,
    lastChangeS: undefined,
    deals: [],
    offer: undefined,
    tenures: [{ owner, fromS: opensS, toS: closesS }],
  }
}
