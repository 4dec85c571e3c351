import { wallets } from '../../wallets.ts'
import type { Bid } from '../contracts/bids.ts'
import { PROJECT } from '../contracts/contracts.ts'
import { LandToken } from '../contracts/tokens.ts'
import { type Draft, draftOf } from '../contracts/transactions.ts'
import { type Address, numberWord, ZERO_ADDRESS } from '../encoding/words.ts'
import { type Asset, type Land, type Market, type Owned, rounded, type Scene } from './scene.ts'
import { drawName, drawText } from './texts.ts'

/** What players do with land, by the word with which it is asked for. */
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
  'estate_shrunk',
  'estate_dissolved',
  'name',
  'operator',
  'rent',
  'rent_ended',
  'signed_sale',
  'signed_offer_cancelled',
] as const
export type DeedKind = (typeof DEED_KINDS)[number]

/** Something that a player does, and the transactions that are sent for it, in their order. */
export interface Deed {
  readonly asset: Asset
  readonly from: Address
  /** Who has the asset afterwards, or wants it. */
  readonly to?: Address
  readonly priceWei?: bigint
  readonly drafts: readonly Draft[]
}

/** Plans a deed with this land, or with any asset that will do. Undefined where it is not possible now. */
type Plan = (scene: Scene, named?: Land) => Deed | undefined

const DAY_S = 86_400
const LARGEST_NEW_ESTATE = 12
/** An estate of more parcels is not taken apart: too much would change at once. */
const LARGEST_DISSOLVED = 40
/** Parcels that join or leave an estate at once. */
const MOST_MOVED = 3
const SIGNATURE_BYTES = 65

export const DEEDS: Readonly<Record<DeedKind, Plan>> = {
  /** What is not for sale is put up for sale first. */
  sale: (scene, named) => {
    const asset = named ?? scene.listed() ?? scene.asset()
    const good = asset && scene.orderOf(asset)
    const market = good?.market ?? (asset && scene.marketFor(asset))
    if (!asset || !market) return undefined
    const { owner: from, token, id } = asset
    const to = scene.other(from)
    const priceWei = good?.order.priceWei ?? scene.price(sizeOf(scene, asset))
    const listing = good ? [] : [listingOf(scene, market, asset, priceWei)]
    const purchase = draftOf(to, market, 'execute', to, token, id, priceWei, isOldStyle(scene, asset))
    return { asset, from, to, priceWei, drafts: [...scene.approval(asset, market), ...listing, purchase] }
  },
  transfer: (scene, asset = scene.asset()) => {
    if (!asset) return undefined
    const { owner: from, token, id } = asset
    const to = scene.other(from)
    return { asset, from, to, drafts: [draftOf(from, token, 'transferFrom', from, from, to, id)] }
  },
  /** Without a bid that is good, one is placed first. */
  bid_accepted: (scene, named) => {
    const asset = named ?? scene.withBid() ?? scene.asset()
    if (!asset || !hasBids(scene)) return undefined
    const { owner: from, token, id } = asset
    const bid = scene.bidsOn(asset)[0]
    const placed = bid ? undefined : bidFor(scene, asset)
    const to = bid?.bidder ?? placed!.bidder
    const priceWei = bid?.priceWei ?? placed!.priceWei
    const acceptance = draftOf(from, scene.contracts.bids, 'acceptFrom', from, token, id, to)
    const drafts = [...(placed ? [placed.draft] : []), { ...acceptance, to: token.address }]
    return { asset, from, to, priceWei, drafts }
  },
  listing: (scene, asset = scene.asset((one) => !scene.orderOf(one))) => {
    const market = asset && scene.marketFor(asset)
    if (!market) return undefined
    const priceWei = scene.askingPrice(asset, sizeOf(scene, asset))
    const listing = listingOf(scene, market, asset, priceWei)
    return { asset, from: asset.owner, priceWei, drafts: [...scene.approval(asset, market), listing] }
  },
  /** Rarely by the owner of the marketplace. */
  listing_cancelled: (scene, named) => {
    const asset = named ?? scene.listed()
    const market = asset && scene.orderOf(asset)?.market
    if (!market) return undefined
    const { token, id } = asset
    const from = scene.rarely(10) ? PROJECT : asset.owner
    return {
      asset,
      from,
      drafts: [draftOf(from, market, 'cancel', from, token, id, isOldStyle(scene, asset))],
    }
  },
  bid: (scene, named) => {
    const asset = named ?? rareAsset(scene) ?? scene.listed() ?? scene.asset()
    if (!asset || !hasBids(scene)) return undefined
    const { bidder, priceWei, draft } = bidFor(scene, asset)
    return { asset, from: bidder, to: bidder, priceWei, drafts: [draft] }
  },
  bid_cancelled: (scene, named) => {
    const { bids } = scene.contracts
    const isGood = ({ expiresAtS }: Bid) => expiresAtS >= BigInt(scene.timeS) || scene.rarely(20)
    const asset = named ?? scene.stored(bids.bids, ({ value }) => value.some(isGood))
    const active = asset ? bids.bidsOf(asset.token.address, asset.id) : []
    if (!asset || active.length === 0) return undefined
    const { bidder: from } = scene.random.pick(active)
    return { asset, from, drafts: [draftOf(from, bids, 'cancel', from, asset.token.address, asset.id)] }
  },
  estate_made: (scene, named) => {
    const { land, estates } = scene.contracts
    const isGood = (one: Land) => scene.connected(one, 2).length > 1 || scene.rarely(20)
    const first = named ?? scene.parcel(isGood)
    if (!first || !scene.isParcel(first) || !scene.machine.isSince(scene.machine.eras.estates))
      return undefined
    const { owner: from } = first
    const ids = scene.connected(first, scene.random.between(2, LARGEST_NEW_ESTATE))
    const to = scene.rarely(10) ? scene.other(from) : from
    const made = draftOf(from, land, 'createEstate', from, ids, to, textOf(scene))
    const draft = scene.rarely(10) ? { ...made, to: estates.address } : made
    return { asset: { token: estates, id: numberWord(estates.total() + 1) }, from, drafts: [draft] }
  },
  /** By parcels beside it; rarely by any of its owner. */
  estate_grown: (scene, named) => {
    const { land } = scene.contracts
    const parcelFor = (one: Land) =>
      scene.besideEstate(one) ??
      (scene.rarely(30) ? scene.parcel(({ owner }) => owner === one.owner)?.id : undefined)
    const estate = named ?? scene.estate((one) => parcelFor(one) !== undefined)
    const id = estate && isEstate(scene, estate) ? parcelFor(estate) : undefined
    if (!estate || id === undefined) return undefined
    const { owner: from } = estate
    const ids = scene.connected({ token: land, id, owner: from }, scene.random.between(1, MOST_MOVED))
    return { asset: estate, from, drafts: [draftOf(from, land, 'transferToEstate', from, ids, estate.id)] }
  },
  /** At least one parcel stays; rarely the others go to another player. */
  estate_shrunk: (scene, named) => {
    const parcelsOf = (one: Asset) => scene.contracts.estates.parcelsOf(one.id)
    const estate = named ?? scene.estate((one) => parcelsOf(one).length > 1)
    if (!estate || !isEstate(scene, estate) || parcelsOf(estate).length < 2) return undefined
    const left = parcelsOf(estate).slice(1, 1 + scene.random.between(1, MOST_MOVED))
    return removal(scene, estate, left)
  },
  /** All parcels leave it: the estate then exists without parcels. */
  estate_dissolved: (scene, named) => {
    const { estates } = scene.contracts
    const isGood = (one: Asset) => {
      const { length } = estates.parcelsOf(one.id)
      return length > 0 && length <= LARGEST_DISSOLVED
    }
    const estate = named ?? scene.estate(isGood)
    if (!estate || !isEstate(scene, estate) || !isGood(estate)) return undefined
    return removal(scene, estate, estates.parcelsOf(estate.id))
  },
  name: (scene, asset = scene.asset()) => {
    if (!asset) return undefined
    const { owner: from, token, id } = asset
    return { asset, from, drafts: [draftOf(from, token, 'describe', from, id, textOf(scene))] }
  },
  operator: (scene, asset = scene.asset()) => {
    if (!asset || !scene.machine.isSince(scene.machine.eras.argumentOrderChanges)) return undefined
    const { owner: from, token, id } = asset
    const to = scene.rarely(20) ? ZERO_ADDRESS : scene.other(from)
    return { asset, from, to, drafts: [draftOf(from, token, 'setUpdateOperator', from, id, to)] }
  },
  rent: (scene, asset = scene.asset((one) => !scene.orderOf(one))) => {
    if (!asset) return undefined
    const { owner } = asset
    const to = scene.other(owner)
    const draft = rentalOf(scene, asset, owner, to)
    return (
      draft && { asset, from: owner, to, drafts: [...scene.approval(asset, scene.contracts.rentals), draft] }
    )
  },
  rent_ended: (scene) => planEndOfRent(scene),
  /** By another one of those who sign: so they have land in the long run. */
  signed_sale: (scene, named) => {
    const offer = scene.signedOffer(named)
    if (!offer) return undefined
    const { offers, owner: from } = offer
    const to = scene.random.pick(wallets().filter(({ address }) => address !== from)).address
    return {
      asset: offer,
      from,
      to,
      priceWei: offers.priceWei(offer),
      drafts: [offers.acceptance(offer, to)],
    }
  },
  signed_offer_cancelled: (scene, named) => {
    const offer = scene.signedOffer(named)
    return offer && { asset: offer, from: offer.owner, drafts: [offer.offers.cancellation(offer)] }
  },
}

/** Plans that a lessor takes rented land back, which belongs to the contract meanwhile. @param named which; undefined: any */
export function planEndOfRent(scene: Scene, named?: Asset): Deed | undefined {
  const { rentals } = scene.contracts
  const asset = named ?? scene.stored(rentals.rentals, ({ value }) => value.endS < scene.timeS)
  const rental = asset && rentals.rental(asset.token.address, asset.id)
  if (!rental || rental.endS >= scene.timeS || !(asset.token instanceof LandToken)) return undefined
  const { lessor: from } = rental
  return { asset, from, drafts: [draftOf(from, rentals, 'claim', from, asset.token, asset.id)] }
}

/** A listing in a marketplace; rarely by a function of the one before, which still works. */
export function listingOf(scene: Scene, market: Market, asset: Owned, priceWei = scene.price()): Draft {
  const { token, id, owner } = asset
  const offer = { token, id, priceWei, expiresAt: scene.expiry() }
  return draftOf(owner, market, 'create', owner, offer, isOldStyle(scene, asset))
}

/** A bid of another player, below the price at which the asset can be bought; rarely with a text that means nothing: the contract takes whatever comes. */
export function bidFor(scene: Scene, { token, id }: Asset, bidder = scene.other(token.ownerOf(id))) {
  const { random, contracts } = scene
  const askedWei = scene.askedFor({ token, id, owner: token.ownerOf(id) })
  const priceWei =
    askedWei === undefined
      ? scene.price(sizeOf(scene, { token, id }))
      : rounded((askedWei * BigInt(random.between(50, 95))) / 100n)
  const fingerprint = scene.rarely(2)
    ? random.hex(2 * random.between(1, 40))
    : (token.fingerprint?.(id) ?? '0x')
  const durationS = BigInt(scene.rarely(20) ? random.between(60, 3_600) : random.between(1, 60) * DAY_S)
  const terms = { priceWei, durationS, fingerprint }
  return { bidder, priceWei, draft: draftOf(bidder, contracts.bids, 'place', bidder, token, id, terms) }
}

/** A rent; rarely the lessor sends the land in place of signing, and the tenant pays nothing. */
export function rentalOf(
  scene: Scene,
  asset: Asset<LandToken>,
  lessor: Address,
  tenant: Address,
): Draft | undefined {
  const { random, machine, contracts } = scene
  if (!machine.isSince(machine.eras.rentals)) return undefined
  const pricePerDayWei = scene.rarely(20) ? 0n : BigInt(random.between(5, 90)) * 10n ** 18n
  const signature = scene.rarely(20) ? '0x' : random.hex(2 * SIGNATURE_BYTES)
  const days = random.between(1, scene.rarely(75) ? 60 : 14)
  const terms = { lessor, tenant, operator: tenant, days, pricePerDayWei, signature }
  const from = signature === '0x' ? lessor : tenant
  return draftOf(from, contracts.rentals, 'rent', from, asset.token, asset.id, terms)
}

function removal(scene: Scene, estate: Land, parcels: readonly string[]): Deed {
  const { estates } = scene.contracts
  const { owner: from, id } = estate
  const to = scene.rarely(20) ? scene.other(from) : from
  return { asset: estate, from, drafts: [draftOf(from, estates, 'removeLand', from, id, parcels, to)] }
}

/** A token that is no land, or a parcel of an estate, whose bids its owner cannot accept. */
function rareAsset(scene: Scene): Asset | undefined {
  const { foreign, estates, land } = scene.contracts
  if (scene.rarely(5)) return scene.find(foreign.owners.keys, (id) => ({ token: foreign, id }))
  if (scene.rarely(5)) return scene.find(estates.estateOfParcel.keys, (id) => ({ token: land, id }))
  return undefined
}

/** How many parcels an asset has. */
function sizeOf({ contracts }: Scene, { token, id }: Asset): number {
  return token === contracts.estates ? contracts.estates.parcelsOf(id).length : 1
}

/** Whether a function of the old marketplace is called: it knows parcels only. */
function isOldStyle(scene: Scene, asset: Asset): boolean {
  return scene.isParcel(asset) && scene.rarely(15)
}

function isEstate({ contracts }: Scene, { token }: Asset): boolean {
  return token === contracts.estates
}

function textOf(scene: Scene): Uint8Array {
  return scene.rarely(100) ? drawText(scene.random) : Buffer.from(`0,${drawName(scene.random)},,`)
}

function hasBids({ machine }: Scene): boolean {
  return machine.isSince(machine.eras.bids)
}
