import { drawName } from '../actors/texts.ts'
import type { Call, NamedAsset } from '../contracts/calls.ts'
import type { Address, Word } from '../encoding/words.ts'
import type { MarketScene, Owned } from './market-scene.ts'
import { rounded } from './market-scene.ts'

/** What players of the market do, by the word with which it is asked for. */
export const DEED_KINDS = [
  'sale',
  'transfer',
  'bid_accepted',
  'listing',
  'listing_cancelled',
  'bid',
  'bid_cancelled',
  'estate_made',
  'estate_grown',
  'estate_dissolved',
  'name',
  'operator',
  'rent',
  'rent_ended',
] as const
export type DeedKind = (typeof DEED_KINDS)[number]

/** Something that players do, and the transactions that they send for it, in their order. */
export interface Deed {
  readonly kind: DeedKind
  readonly asset: NamedAsset
  readonly from: Address
  /** Who has the asset afterwards, or wants it. */
  readonly to?: Address
  readonly priceWei?: bigint
  readonly calls: readonly Call[]
}

/** Plans a deed with an asset, or with any that will do. Undefined where it is not possible now. */
type Plan = (scene: MarketScene, asset: Owned | undefined) => Omit<Deed, 'kind'> | undefined

const DAY_S = 86_400
const LARGEST_NEW_ESTATE = 12
/** An estate of more parcels is not taken apart: too much would change at once. */
const LARGEST_DISSOLVED = 40
const LONGEST_RENT_DAYS = 14
const SIGNATURE_BYTES = 65

/** Plans what players do. @param asset with which; undefined: any */
export function planDeed(scene: MarketScene, kind: DeedKind, asset?: Owned): Deed | undefined {
  const deed = PLANS[kind](scene, asset)
  return deed && { ...deed, kind }
}

const PLANS: Readonly<Record<DeedKind, Plan>> = {
  /** What is not for sale is put up for sale first. */
  sale: (scene, asset) => {
    const owned = asset ?? scene.findListed() ?? scene.findAny()
    if (!owned) return undefined
    const { owner: from, registry, id } = owned
    const to = scene.other(from)
    const good = scene.orderOf(owned)
    const market = good?.market ?? 'market'
    const priceWei = good?.order.priceWei ?? scene.price(sizeOf(scene, owned))
    const listing = good ? [] : [listingOf(scene, owned, priceWei)]
    const approval = approvalOf(owned, scene.contracts[market].address)
    const purchase = { does: 'buy', from: to, registry, id, market, priceWei: String(priceWei) } as const
    return { asset: owned, from, to, priceWei, calls: [...approval, ...listing, purchase] }
  },
  transfer: (scene, asset = scene.findAny()) => {
    if (!asset) return undefined
    const { owner: from, registry, id } = asset
    const to = scene.other(from)
    return { asset, from, to, calls: [{ does: 'transfer', from, registry, id, to }] }
  },
  /** Without a bid that is good, one is placed first. */
  bid_accepted: (scene, given) => {
    const asset = given ?? scene.findWithBid() ?? scene.findAny()
    if (!asset) return undefined
    const { owner: from, registry, id } = asset
    const bid = scene.bidsOn(asset)[0]
    const placed = bid ? undefined : bidFor(scene, asset)
    const to = bid?.bidder ?? placed!.from
    const priceWei = bid?.priceWei ?? BigInt(placed!.priceWei)
    const acceptance = { does: 'accept-bid', from, registry, id, bidder: to } as const
    return { asset, from, to, priceWei, calls: [...(placed ? [placed] : []), acceptance] }
  },
  listing: (scene, asset = scene.findAny((one) => !scene.orderOf(one))) => {
    if (!asset) return undefined
    const priceWei = scene.price(sizeOf(scene, asset))
    const calls = [...approvalOf(asset, scene.contracts.market.address), listingOf(scene, asset, priceWei)]
    return { asset, from: asset.owner, priceWei, calls }
  },
  listing_cancelled: (scene, given) => {
    const asset = given ?? scene.findListed()
    const market = asset && scene.orderOf(asset)?.market
    if (!market) return undefined
    const { owner: from, registry, id } = asset
    return { asset, from, calls: [{ does: 'cancel-listing', from, registry, id, market }] }
  },
  bid: (scene, asset = scene.findListed() ?? scene.findAny()) => {
    if (!asset) return undefined
    const call = bidFor(scene, asset)
    return { asset, from: call.from, to: call.from, priceWei: BigInt(call.priceWei), calls: [call] }
  },
  bid_cancelled: (scene, given) => {
    const asset = given ?? scene.findWithBid()
    const bid = asset && scene.bidsOn(asset)[0]
    if (!asset || !bid) return undefined
    const { registry, id } = asset
    return { asset, from: bid.bidder, calls: [{ does: 'cancel-bid', from: bid.bidder, registry, id }] }
  },
  estate_made: (scene, given) => {
    const parcelsOf = (one: Owned) => scene.connected(one, scene.dice.whole(2, LARGEST_NEW_ESTATE))
    const isGood = (one: Owned) => scene.connected(one, 2).length > 1
    const first = given ?? scene.find('land', isGood)
    if (first?.registry !== 'land') return undefined
    const { owner: from } = first
    const text = nameText(scene)
    return {
      asset: { registry: 'estates', id: scene.nextEstate() },
      from,
      calls: [{ does: 'make-estate', from, parcels: parcelsOf(first), text }],
    }
  },
  estate_grown: (scene, given) => {
    const estate = given ?? scene.find('estates', (one) => scene.besideEstate(one) !== undefined)
    const parcel = estate?.registry === 'estates' ? scene.besideEstate(estate) : undefined
    if (!estate || !parcel) return undefined
    const { owner: from, id: estateId } = estate
    return { asset: estate, from, calls: [{ does: 'grow-estate', from, estateId, parcels: [parcel] }] }
  },
  estate_dissolved: (scene, given) => {
    const isGood = (one: Owned) => {
      const size = parcelsOfEstate(scene, one).length
      return size > 0 && size <= LARGEST_DISSOLVED
    }
    const estate = given ?? scene.find('estates', isGood)
    if (estate?.registry !== 'estates' || !isGood(estate)) return undefined
    const { owner: from, id: estateId } = estate
    const parcels = parcelsOfEstate(scene, estate)
    return { asset: estate, from, calls: [{ does: 'shrink-estate', from, estateId, parcels }] }
  },
  name: (scene, asset = scene.findAny()) => {
    if (!asset) return undefined
    const { owner: from, registry, id } = asset
    return { asset, from, calls: [{ does: 'describe', from, registry, id, text: nameText(scene) }] }
  },
  operator: (scene, asset = scene.findAny()) => {
    if (!asset) return undefined
    const { owner: from, registry, id } = asset
    const operator = scene.other(from)
    return {
      ...{ asset, from, to: operator },
      calls: [{ does: 'set-update-operator', from, registry, id, operator }],
    }
  },
  rent: (scene, asset = scene.find('land', (one) => !scene.orderOf(one))) => {
    if (!asset) return undefined
    const { registry, id, owner: lessor } = asset
    const tenant = scene.other(lessor)
    const { dice, contracts } = scene
    const terms = {
      days: dice.whole(1, LONGEST_RENT_DAYS),
      pricePerDayWei: String(BigInt(dice.whole(5, 90)) * 10n ** 18n),
      signature: dice.bytes(SIGNATURE_BYTES),
    }
    const calls: Call[] = [
      ...approvalOf(asset, contracts.rentals.address),
      { does: 'rent', from: tenant, registry, id, lessor, ...terms },
    ]
    return { asset, from: lessor, to: tenant, calls }
  },
  rent_ended: (scene) => planEndOfRent(scene),
}

/** Plans that a lessor takes rented land back, which belongs to the contract meanwhile. @param asset which; undefined: any */
export function planEndOfRent(scene: MarketScene, asset?: NamedAsset): Deed | undefined {
  const found = scene.findEndedRent(asset)
  if (!found) return undefined
  const { registry, id, lessor } = found
  const call = { does: 'end-rent', from: lessor, registry, id } as const
  return { kind: 'rent_ended', asset: { registry, id }, from: lessor, calls: [call] }
}

function sizeOf(scene: MarketScene, asset: Owned): number {
  return asset.registry === 'land' ? 1 : parcelsOfEstate(scene, asset).length
}

function parcelsOfEstate({ contracts }: MarketScene, { id }: Owned): readonly Word[] {
  return contracts.estates.parcelsOf(id)
}

/** Lets a contract move this one asset, if it may not yet. */
function approvalOf({ token, registry, id, owner: from }: Owned, operator: Address): readonly Call[] {
  return token.mayTransfer(operator, id) ? [] : [{ does: 'approve', from, registry, id, operator }]
}

function listingOf(
  { dice, timeS }: MarketScene,
  { registry, id, owner: from }: Owned,
  priceWei: bigint,
): Call {
  const midnightS = Math.floor(timeS / DAY_S) * DAY_S
  const expiresAtS = String(midnightS + dice.whole(2, 180) * DAY_S)
  return { does: 'list', from, registry, id, priceWei: String(priceWei), expiresAtS }
}

function bidFor(scene: MarketScene, asset: Owned) {
  const { registry, id, owner } = asset
  const { dice } = scene
  const asked = scene.orderOf(asset)?.order.priceWei ?? scene.price(sizeOf(scene, asset))
  return {
    ...({ does: 'bid', from: scene.other(owner), registry, id } as const),
    priceWei: String(rounded((asked * BigInt(dice.whole(50, 95))) / 100n)),
    durationS: String(dice.whole(1, 60) * DAY_S),
    fingerprint: scene.fingerprintOf(asset) ?? '0x',
  }
}

function nameText({ dice }: MarketScene): string {
  return `0,${drawName(dice)},,`
}
