import type { Random } from '../random.ts'
import type { Asset, Assets, Deal, OpenOffer } from './assets.ts'
import { BIDS_START_S, blockTimeS, DAY_S, dateS, PRESENT_S, YEAR_S } from './chain-time.ts'

type Kind = Deal['kind']

/** The kinds of events of one asset, before times and people are chosen. */
interface Outline {
  readonly kinds: Kind[]
  offer?: 'alive' | 'expired'
}

const MOST_DEALS = 5
/** An asset gets at most one deal for each such span of its time. */
const DAYS_PER_DEAL = 40

/** How many events of each kind there are per thousand assets, and at least in the smallest world. */
type Shares = Readonly<Record<'alive' | 'expired' | Kind, readonly [perThousand: number, atLeast: number]>>

const PARCEL_SHARES: Shares = {
  alive: [39, 6],
  expired: [20, 2],
  sold: [112, 36],
  'bid-sold': [11, 3],
  cancelled: [140, 6],
}

const ESTATE_SHARES: Shares = {
  alive: [104, 3],
  expired: [40, 2],
  sold: [220, 6],
  'bid-sold': [40, 2],
  cancelled: [250, 6],
}

/** Gives every asset its history (who bought and sold it when) and its open offer. */
export function tellStories(
  { byCell, parcels, estates }: Assets,
  people: readonly string[],
  random: Random,
): void {
  const outlines = new Map<Asset, Outline>()
  const estateAssets = estates.map(({ asset }) => asset)
  outline(outlines, parcels, PARCEL_SHARES, random)
  outline(outlines, estateAssets, ESTATE_SHARES, random)
  for (const { asset, cells } of estates) {
    tellStory(asset, outlines.get(asset), people, random)
    // The first owner of the estate owned its parcels before.
    for (const cell of cells) byCell[cell]!.owner = asset.firstOwner
  }
  for (const asset of parcels) tellStory(asset, outlines.get(asset), people, random)
}

/** Spreads events over some assets. */
function outline(
  outlines: Map<Asset, Outline>,
  assets: readonly Asset[],
  shares: Shares,
  random: Random,
): void {
  if (assets.length === 0) return // a world without lots: nothing can happen to them
  const count = (of: keyof Shares) =>
    Math.max(shares[of][1], Math.floor((assets.length * shares[of][0]) / 1000))
  const order = random.shuffle([...assets])
  const open = neighboursFirst(order.filter(({ estateId }) => estateId === undefined))
  const alive = count('alive')
  open.slice(0, alive).forEach((asset) => {
    outlines.set(asset, { kinds: [], offer: 'alive' })
  })
  open.slice(alive, alive + count('expired')).forEach((asset) => {
    outlines.set(asset, { kinds: [], offer: 'expired' })
  })
  const kinds = random.shuffle([
    ...Array.from({ length: count('sold') }, (): Kind => 'sold'),
    ...Array.from({ length: count('bid-sold') }, (): Kind => 'bid-sold'),
    ...Array.from({ length: count('cancelled') }, (): Kind => 'cancelled'),
  ])
  // Only a quarter of the assets is traded, so that some have several deals.
  const traded = Math.max(Math.floor(order.length / 4), Math.min(order.length, 24))
  for (const kind of kinds) {
    const asset = order[Math.min(random.below(traded), random.below(traded))]!
    const { kinds: planned } = outlines.get(asset) ?? setNew(outlines, asset)
    if (planned.length < roomFor(asset)) planned.push(kind)
  }
}

/** Puts a few pairs of one owner at the front: they will be offered together. */
function neighboursFirst(assets: readonly Asset[]): Asset[] {
  const single = new Map<string, Asset>()
  const pairs = new Set<Asset>()
  const most = 2 * Math.max(1, Math.floor(assets.length / 3000))
  for (const asset of assets) {
    const other = single.get(asset.owner)
    if (other && pairs.size < most) pairs.add(other).add(asset)
    single.set(asset.owner, asset)
  }
  return [...pairs, ...assets.filter((asset) => !pairs.has(asset))]
}

function setNew(outlines: Map<Asset, Outline>, asset: Asset): Outline {
  const fresh: Outline = { kinds: [] }
  outlines.set(asset, fresh)
  return fresh
}

function roomFor({ opensS, closesS }: Asset): number {
  return Math.min(MOST_DEALS, Math.floor((closesS - opensS) / (DAYS_PER_DEAL * DAY_S)) - 1)
}

function tellStory(
  asset: Asset,
  planned: Outline | undefined,
  people: readonly string[],
  random: Random,
): void {
  const kinds = planned?.kinds ?? []
  if (planned?.offer) asset.offer = offerOf(asset, { isAlive: planned.offer === 'alive' }, random)
  const endS = asset.offer ? asset.offer.fromS : asset.closesS
  const isSold = kinds.some((kind) => kind !== 'cancelled')
  // The first seller has to be the winner of the auction: a transfer without a sale can only follow the sales.
  const isGiven = asset.type === 'parcel' && asset.estateId === undefined && random.chance(isSold ? 7 : 30)
  const slots = slotsBetween(asset.opensS, endS, kinds.length + (isGiven ? 1 : 0), random)
  if (isGiven) asset.transferS = (isSold ? slots.pop() : slots.shift())?.fromS
  castStory(
    asset,
    slots.flatMap((slot, at) => (kinds[at] ? [{ ...slot, kind: kinds[at] }] : [])),
    people,
    random,
  )
}

/** Divides a time into equal slots and gives each an event that fits inside. */
function slotsBetween(
  fromS: number,
  toS: number,
  count: number,
  random: Random,
): { fromS: number; toS: number }[] {
  const length = Math.floor((toS - fromS) / Math.max(1, count))
  if (length < 2 * DAY_S) return []
  return Array.from({ length: count }, (_, at) => {
    const start = fromS + at * length + random.between(3600, Math.floor(length / 2))
    const longest = Math.min(Math.floor(length / 2) - 7200, 170 * DAY_S)
    return { fromS: blockTimeS(start), toS: blockTimeS(start + random.between(3600, longest)) }
  })
}

/** Most open offers expire years from now, so that the demo world still has offers then. */
function offerOf(asset: Asset, { isAlive }: { isAlive: boolean }, random: Random): OpenOffer {
  const lastS = PRESENT_S - 2 * DAY_S
  if (!isAlive) {
    const fromS = blockTimeS(random.between(asset.opensS + DAY_S, PRESENT_S - 300 * DAY_S))
    return { fromS, expiresS: midnight(fromS + random.between(10, 250) * DAY_S) }
  }
  const [low, high] = random.chance(88) ? ['2029-01-01', '2031-10-01'] : ['2027-03-01', '2028-12-31']
  const expiresS = midnight(random.between(dateS(low!), dateS(high!)))
  // The marketplace contract allows a deadline of at most five years after the creation.
  const fromS = random.between(Math.max(expiresS - 5 * YEAR_S + DAY_S, asset.opensS + DAY_S), lastS)
  return { fromS: blockTimeS(fromS), expiresS }
}

const midnight = (timeS: number): number => timeS - (timeS % DAY_S)

/** Chooses sellers and buyers for the events of an asset, so that the last one leaves it with its owner. */
function castStory(
  asset: Asset,
  events: readonly { kind: Kind; fromS: number; toS: number }[],
  people: readonly string[],
  random: Random,
): void {
  const { opensS, closesS, transferS } = asset
  const changes: { atS: number }[] = events
    .filter(({ kind }) => kind !== 'cancelled')
    .map(({ toS }) => ({ atS: toS }))
  if (transferS !== undefined) changes.push({ atS: transferS })
  const times = [opensS, ...changes.map(({ atS }) => atS).sort((one, other) => one - other), closesS]
  const owners = [asset.owner]
  while (owners.length < times.length - 1) owners.unshift(someoneElse(owners[0]!, people, random))
  asset.tenures = owners.map((owner, at) => ({ owner, fromS: times[at]!, toS: times[at + 1]! }))
  asset.firstOwner = owners[0]!
  asset.lastChangeS = changes.length > 0 ? times.at(-2) : undefined
  asset.deals = events.map(({ kind, fromS, toS }) => {
    const tenure = asset.tenures.findIndex((one) => fromS >= one.fromS && fromS < one.toS)
    const buyer = kind === 'cancelled' ? undefined : owners[tenure + 1]!
    const soldKind = kind === 'bid-sold' && fromS < BIDS_START_S ? 'sold' : kind
    return { kind: soldKind, fromS, toS, seller: owners[tenure]!, buyer }
  })
}

/** Another person than the given one; those with more land more often. */
export function someoneElse(person: string, people: readonly string[], random: Random): string {
  for (;;) {
    const other = people[Math.min(random.below(people.length), random.below(people.length))]!
    if (other !== person) return other
  }
}
