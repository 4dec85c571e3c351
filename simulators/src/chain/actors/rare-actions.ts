import { PROJECT } from '../contracts/contracts.ts'
import type { Order } from '../contracts/marketplaces.ts'
import { LandToken } from '../contracts/tokens.ts'
import { callOf, draftOf } from '../contracts/transactions.ts'
import { ZERO_ADDRESS } from '../encoding/words.ts'
import { bidFor, listingOf, rentalOf } from './deeds.ts'
import type { Action, Owned, Stored } from './scene.ts'
import { drawText } from './texts.ts'

export const setOperator: Action = (scene) => {
  const land = scene.asset()
  if (!land) return undefined
  const { token, id, owner } = land
  const operator = scene.random.chance(30) ? ZERO_ADDRESS : scene.other(owner)
  return [draftOf(owner, token, 'approve', owner, operator, id)]
}

export const setApprovalForAll: Action = (scene) => {
  const { estates, land } = scene.contracts
  const token = scene.random.chance(30) && estates.total() > 0 ? estates : land
  const owner = scene.player()
  return [draftOf(owner, token, 'setApprovalForAll', owner, scene.other(owner), scene.random.chance(70))]
}

export const setUpdateManager: Action = (scene) => {
  if (!scene.machine.isSince(scene.machine.eras.bids)) return undefined
  const { estates, land } = scene.contracts
  const token = scene.random.chance(40) ? estates : land
  const owner = scene.player()
  const manager = scene.other(owner)
  return [draftOf(owner, token, 'setUpdateManager', owner, owner, manager, scene.random.chance(70))]
}

/** A parcel leaves an estate and comes back: the estate's fingerprint is the old one again. */
export const shakeEstate: Action = (scene) => {
  const { estates, land } = scene.contracts
  const estate = scene.estate(({ id }) => estates.parcelsOf(id).length > 1)
  if (!estate) return undefined
  const { owner, id } = estate
  const parcels = [scene.random.pick(estates.parcelsOf(id))]
  return [
    draftOf(owner, estates, 'removeLand', owner, id, parcels, owner),
    draftOf(owner, land, 'transferToEstate', owner, parcels, id),
  ]
}

/** The owner of an estate works on one of its parcels. */
export const changeParcelOfEstate: Action = (scene) => {
  const { estates } = scene.contracts
  const estate = scene.estate(({ id }) => estates.parcelsOf(id).length > 0)
  if (!estate) return undefined
  const { owner, id } = estate
  const parcel = scene.random.pick(estates.parcelsOf(id))
  return scene.random.chance(50)
    ? [draftOf(owner, estates, 'describeParcel', owner, id, parcel, drawText(scene.random))]
    : [draftOf(owner, estates, 'setParcelUpdateOperator', owner, id, parcel, scene.other(owner))]
}

/** Logs of contracts that a follower has to ignore. */
export const makeNoise: Action = (scene) => {
  const { currency, foreign } = scene.contracts
  const { random } = scene
  const from = scene.player()
  const to = scene.other(from)
  if (random.chance(40)) return [draftOf(from, currency, 'transfer', from, to, scene.price())]
  if (random.chance(30)) return [draftOf(from, currency, 'approve', from, to, scene.price())]
  if (random.chance(10)) return [draftOf(from, foreign, 'upgrade', to)]
  // The id of a parcel: its logs differ from those of the parcel in the address only.
  const id = random.pick(scene.contracts.land.owners.keys)
  const owner = foreign.ownerOf(id)
  return owner === ZERO_ADDRESS
    ? [draftOf(from, foreign, 'mint', to, id)]
    : [draftOf(owner, foreign, 'transferFrom', owner, owner, to, id)]
}

/** A wallet that is a contract lists several parcels in one transaction, the last of them twice at the same price. */
export const listSeveral: Action = (scene) => {
  const { market } = scene.contracts
  const first = scene.parcel()
  if (!first || !scene.machine.isSince(scene.machine.eras.marketplace)) return undefined
  const { owner } = first
  const others = Array.from({ length: 3 }).flatMap(() => scene.parcel((one) => one.owner === owner) ?? [])
  const calls = [first, ...others].flatMap((land) => listingOf(scene, market, land).calls)
  const all = scene.random.chance(30) ? [...calls, calls.at(-1)!] : calls
  const approval = callOf(first.token, 'setApprovalForAll', owner, market.address, true)
  return [{ from: owner, to: owner, calls: [approval, ...all] }]
}

/** Lists again what is listed: the new listing replaces the old one without a log. */
export const listAgain: Action = (scene) => {
  const market = scene.someMarket()
  const found = scene.stored(market.orders, isWithSeller)
  if (!found) return undefined
  const asset = { ...found, owner: found.value.seller }
  return [...scene.approval(asset, market), listingOf(scene, market, asset)]
}

/** The owner of the old marketplace cancels a parcel that is not listed: the log has no id and no seller. */
export const cancelNothing: Action = (scene) => {
  const { legacyMarket, land } = scene.contracts
  const parcel = scene.parcel()
  if (!parcel || !scene.machine.isSince(scene.machine.eras.legacyMarketplace)) return undefined
  return [draftOf(PROJECT, legacyMarket, 'cancel', PROJECT, land, parcel.id)]
}

/** A listing that is dead, or has expired, is cancelled. */
export const cancelDead: Action = (scene) => {
  const market = scene.someMarket()
  const found = scene.stored(market.orders, (one) => !isWithSeller(one))
  if (!found) return undefined
  const { token, id, value } = found
  const from = scene.random.chance(50) ? value.seller : PROJECT
  return [draftOf(from, market, 'cancel', from, token, id)]
}

/** Listed land goes to another player: its listing is dead, but the contract keeps it. */
export const moveListed: Action = (scene) => {
  const found = scene.stored(scene.someMarket().orders, isWithSeller)
  return found && transferOf({ ...found, owner: found.value.seller }, scene.other(found.value.seller))
}

/** … and comes back to the seller: the listing is alive again, and nothing is logged for it. */
export const returnListed: Action = (scene) => {
  const found = scene.stored(
    scene.someMarket().orders,
    (one) => !isWithSeller(one) && scene.owned(one) !== undefined,
  )
  return found && transferOf({ ...found, owner: found.token.ownerOf(found.id) }, found.value.seller)
}

/** Names and wearables are traded in the same marketplace, with ids that parcels have too. */
export const listForeign: Action = (scene) => {
  const { foreign, market } = scene.contracts
  const owned = scene.machine.isSince(scene.machine.eras.marketplace) ? scene.ownedOf(foreign) : undefined
  return owned && [...scene.approval(owned, market), listingOf(scene, market, owned)]
}

/** Bids for what has bids: several for one asset, or the same bidder again, whose bid is replaced. */
export const bidAgain: Action = (scene) => {
  const found = scene.stored(
    scene.contracts.bids.bids,
    (one) => one.value.length > 0 && scene.owned(one) !== undefined,
  )
  if (!found) return undefined
  const bidder = scene.random.chance(40) ? scene.random.pick(found.value).bidder : undefined
  return [bidFor(scene, found, bidder).draft]
}

export const removeExpiredBid: Action = (scene) => {
  const { bids } = scene.contracts
  const expiredOf = ({ value }: Stored<readonly { bidder: string; expiresAtS: bigint }[]>) =>
    value.find(({ expiresAtS }) => expiresAtS < BigInt(scene.timeS))
  const found = scene.stored(bids.bids, (one) => expiredOf(one) !== undefined)
  if (!found) return undefined
  const { bidder } = expiredOf(found)!
  return [draftOf(scene.player(), bids, 'removeExpired', found.token.address, found.id, bidder)]
}

/** Extends a rent that runs, or rents out again what the lessor did not claim after its end. */
export const rentAgain: Action = (scene) => {
  const found = scene.stored(scene.contracts.rentals.rentals, () => true)
  if (!found || !(found.token instanceof LandToken)) return undefined
  const { token, id, value } = found
  const { lessor, endS } = value
  const tenant = endS >= scene.timeS ? value.tenant : scene.other(lessor)
  const draft = rentalOf(scene, { token, id }, lessor, tenant)
  return draft && [draft]
}

export const changeOperatorOfRental: Action = (scene) => {
  const { rentals } = scene.contracts
  const found = scene.stored(rentals.rentals, ({ value }) => value.endS >= scene.timeS)
  if (!found || !(found.token instanceof LandToken)) return undefined
  const { tenant } = found.value
  return [draftOf(tenant, rentals, 'setOperator', tenant, found.token, found.id, scene.player())]
}

/** Land that is sent to the contract of rentals without a rent stays there for ever. */
export const loseToRentals: Action = (scene) => {
  const { rentals } = scene.contracts
  const isPossible = scene.machine.isSince(scene.machine.eras.rentals) && scene.random.chance(10)
  const parcel = isPossible ? scene.parcel() : undefined
  return parcel && transferOf(parcel, rentals.address)
}

function isWithSeller({ token, id, value }: Stored<Order>): boolean {
  return token.ownerOf(id) === value.seller
}

function transferOf({ token, id, owner }: Owned, to: string): ReturnType<Action> {
  return [draftOf(owner, token, 'transferFrom', owner, owner, to, id)]
}
