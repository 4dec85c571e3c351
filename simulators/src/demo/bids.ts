import {
  estateFingerprint,
  estateFingerprintV2,
  MOST_PARCELS_OF_FIRST,
} from '@landpass/server/land/events/fingerprints'
import type { BidRecord } from '@landpass/server/land/records/bid'
import type { Registries } from '@landpass/server/land/records/contracts'
import type { Random } from '../random.ts'
import type { Asset, Assets, Deal, Tenure } from './assets.ts'
import { BIDS_START_S, blockAt, blockTimeS, DAY_S, dateS, iso, PRESENT_S, rowTimes } from './chain-time.ts'
import type { Grid } from './grid.ts'
import type { Listing } from './market.ts'
import { someoneElse } from './stories.ts'
import { askingPrice, priceText } from './values.ts'

interface Draft {
  readonly asset: Asset
  readonly status: BidRecord['status']
  readonly bidder: string
  readonly seller: string
  readonly fromS: number
  /** When accepted or taken back; the time of creation while open. */
  readonly toS: number
  readonly expiresS: number
}

const LONGEST_DAYS = 180

/** What bid records need to know. */
export interface BidSources {
  readonly assets: Assets
  readonly people: readonly string[]
  readonly listings: readonly Listing[]
  readonly registries: Registries
  readonly grid: Grid
}

/** All bids, in order of creation: accepted, cancelled and open ones. An open bid is below the price that its asset is offered for. */
export function bidsOf(
  { assets, people, listings, registries, grid }: BidSources,
  random: Random,
): BidRecord[] {
  const all = [...assets.parcels, ...assets.estates.map(({ asset }) => asset)]
  const accepted = all.flatMap((asset) => acceptedOn(asset, people, random))
  const cancelled = times(all.length, 92, 6, () => cancelledOn(random.pick(all), people, random))
  const drafts = [...accepted, ...cancelled, ...openOnes(all, people, random)]
  drafts.sort((one, other) => one.fromS - other.fromS)
  const created = rowTimes(() => random.between(3000, 60_000))
  const fingerprints = new Map<Asset, string>()
  const asked = new Map(
    listings
      .filter(({ deal, expiresS }) => !deal && expiresS > PRESENT_S)
      .map(({ asset, whole }) => [asset, whole]),
  )
  const cellsOf = new Map(assets.estates.map(({ asset, cells }) => [asset, cells]))
  return drafts.map((draft) => {
    const { asset } = draft
    if (!fingerprints.has(asset)) {
      random.hash() // Not used any more; without it, all later bids of a seed would be others.
      const parcels = (cellsOf.get(asset) ?? []).map((cell) => grid.coord(cell))
      const ofEstate = parcels.length > MOST_PARCELS_OF_FIRST ? estateFingerprintV2 : estateFingerprint
      fingerprints.set(asset, asset.type === 'estate' ? ofEstate(asset.id, parcels) : '0x')
    }
    const fingerprint = fingerprints.get(asset)!
    const below = draft.status === 'open' ? asked.get(asset) : undefined
    return recordOf(draft, { registries, fingerprint, below, createdAt: created(draft.fromS) }, random)
  })
}

/** Drafts of bids: `perThousand` for each thousand assets, and at least `least`. An attempt may fail. */
function times(
  assets: number,
  perThousand: number,
  least: number,
  attempt: () => Draft | undefined,
): Draft[] {
  const drafts: Draft[] = []
  const wanted = Math.max(least, Math.floor((assets * perThousand) / 1000))
  for (let tries = 0; drafts.length < wanted && tries < wanted * 3 + 100; tries++) {
    const draft = attempt()
    if (draft) drafts.push(draft)
  }
  return drafts
}

/** The bids that were accepted, with the rival bids that were cancelled in the same block. */
function acceptedOn(asset: Asset, people: readonly string[], random: Random): Draft[] {
  return asset.deals.flatMap((deal) =>
    deal.kind === 'bid-sold' ? withRivals(asset, deal, people, random) : [],
  )
}

function withRivals(asset: Asset, deal: Deal, people: readonly string[], random: Random): Draft[] {
  const { fromS, toS, seller } = deal
  const bidder = deal.buyer!
  const sold: Draft = {
    asset,
    status: 'sold',
    bidder,
    seller,
    fromS,
    toS,
    expiresS: expiryAfter(deal, random),
  }
  const rivals = Array.from({ length: random.chance(35) ? random.between(1, 3) : 0 }, (): Draft => {
    const rivalFromS = blockTimeS(random.between(fromS, toS - 1))
    const rival = { fromS: rivalFromS, toS }
    const other = bidderFor(seller, people, random)
    return { ...sold, ...rival, status: 'cancelled', bidder: other, expiresS: expiryAfter(rival, random) }
  })
  return [sold, ...rivals]
}

/** After the bid ended, and within the time that the contract allows. */
function expiryAfter({ fromS, toS }: { fromS: number; toS: number }, random: Random): number {
  const daysLeft = LONGEST_DAYS - Math.ceil((toS - fromS) / DAY_S)
  return toS + 3600 + random.between(0, daysLeft) * DAY_S
}

function bidderFor(seller: string, people: readonly string[], random: Random): string {
  return someoneElse(seller, people, random)
}

/** A bid that its bidder cancelled while the asset had the same owner. */
function cancelledOn(asset: Asset, people: readonly string[], random: Random): Draft | undefined {
  const tenure = random.pick(asset.tenures)
  const start = Math.max(tenure.fromS, BIDS_START_S) + 60
  const end = Math.min(tenure.toS, PRESENT_S - DAY_S) - 60
  if (end - start < 2 * DAY_S) return undefined
  const fromS = blockTimeS(random.between(start, end - DAY_S))
  const toS = blockTimeS(random.between(fromS + 600, Math.min(end, fromS + 150 * DAY_S)))
  const bidder = bidderFor(tenure.owner, people, random)
  const expiresS = expiryAfter({ fromS, toS }, random)
  return { asset, status: 'cancelled', bidder, seller: tenure.owner, fromS, toS, expiresS }
}

/** Open bids: more on assets that are for sale, never two of one bidder on one asset. */
function openOnes(all: readonly Asset[], people: readonly string[], random: Random): Draft[] {
  const owned = all.filter(({ estateId }) => estateId === undefined)
  const offered = owned.filter(({ offer }) => offer !== undefined && offer.expiresS > PRESENT_S)
  const taken = new Set<string>()
  const draw = (isAlive: boolean) => () => {
    const asset = random.pick(random.chance(55) && offered.length > 0 ? offered : owned)
    const bidder = bidderFor(asset.owner, people, random)
    const key = `${asset.type} ${asset.id} ${bidder}`
    if (taken.has(key)) return undefined
    const draft = openOn(asset, { bidder, isAlive }, random)
    if (draft) taken.add(key)
    return draft
  }
  return [...times(owned.length, 30, 5, draw(true)), ...times(owned.length, 30, 4, draw(false))]
}

function openOn(
  asset: Asset,
  { bidder, isAlive }: { bidder: string; isAlive: boolean },
  random: Random,
): Draft | undefined {
  const { fromS: since } = asset.tenures.at(-1) as Tenure
  const earliest = Math.max(since, isAlive ? dateS('2025-06-01') : BIDS_START_S) + 3600
  const latest = isAlive ? PRESENT_S - DAY_S : PRESENT_S - 200 * DAY_S
  if (latest <= earliest) return undefined
  const fromS = blockTimeS(random.between(earliest, latest))
  // The contract allows half a year. Open bids of the demo get years, so that some are open for a long time.
  const expiresS = isAlive
    ? random.between(dateS('2028-01-01'), dateS('2031-12-01'))
    : fromS + random.between(1, LONGEST_DAYS) * DAY_S
  return { asset, status: 'open', bidder, seller: asset.owner, fromS, toS: fromS, expiresS }
}

interface RecordSources {
  readonly registries: Registries
  readonly fingerprint: string
  /** What the asset is offered for, in whole MANA; undefined where it is not for sale. */
  readonly below: number | undefined
  readonly createdAt: string
}

function recordOf(
  { asset, status, bidder, seller, fromS, toS, expiresS }: Draft,
  { registries, fingerprint, below = Infinity, createdAt }: RecordSources,
  random: Random,
): BidRecord {
  const isEstate = asset.type === 'estate'
  const worth = Math.min(askingPrice(asset.value, fromS, random), below)
  const whole = Math.max(1, Math.floor((worth * random.between(45, 95)) / 100))
  return {
    id: random.hash(),
    token_address: isEstate ? registries.estate : registries.land,
    token_id: asset.tokenId,
    bidder,
    seller,
    price: priceText(whole, random),
    expires_at: String(expiresS * 1000),
    fingerprint,
    status,
    asset_id: asset.id,
    asset_type: asset.type,
    block_number: blockAt(toS),
    block_time_created_at: String(fromS * 1000),
    block_time_updated_at: String(toS * 1000),
    created_at: createdAt,
    updated_at: status === 'open' ? createdAt : iso(toS * 1000 + random.between(60_100, 90_000)),
  }
}
