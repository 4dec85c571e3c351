import { ZERO_ADDRESS } from '../encoding/words.ts'
import type { Action, Scene } from './scene.ts'
import { drawText } from './texts.ts'

const ESTATE_SIDE = 4

export const transfer: Action = (scene) => {
  const land = scene.asset()
  if (!land) return undefined
  const { token, id, owner } = land
  const to = scene.other(owner)
  return [{ from: owner, to: token.address, run: () => token.transferFrom(owner, owner, to, id) }]
}

export const describe: Action = (scene) => {
  const land = scene.asset()
  if (!land) return undefined
  const { token, id, owner } = land
  const text = drawText(scene.dice)
  return [{ from: owner, to: token.address, run: () => token.describe(owner, id, text) }]
}

export const setOperator: Action = (scene) => {
  const land = scene.asset()
  if (!land) return undefined
  const { token, id, owner } = land
  const operator = scene.dice.chance(0.3) ? ZERO_ADDRESS : scene.other(owner)
  return [{ from: owner, to: token.address, run: () => token.approve(owner, operator, id) }]
}

export const setUpdateOperator: Action = (scene) => {
  const land = scene.asset()
  if (!land || !scene.machine.isSince(scene.machine.eras.argumentOrderChanges)) return undefined
  const { token, id, owner } = land
  const operator = scene.dice.chance(0.2) ? ZERO_ADDRESS : scene.other(owner)
  return [{ from: owner, to: token.address, run: () => token.setUpdateOperator(owner, id, operator) }]
}

export const setApprovalForAll: Action = (scene) => {
  const { estates, land } = scene.contracts
  const token = scene.dice.chance(0.3) && estates.total() > 0 ? estates : land
  const owner = scene.player()
  const operator = scene.other(owner)
  const isApproved = scene.dice.chance(0.7)
  const run = () => token.setApprovalForAll(owner, operator, isApproved)
  return [{ from: owner, to: token.address, run }]
}

export const setUpdateManager: Action = (scene) => {
  if (!scene.machine.isSince(scene.machine.eras.bids)) return undefined
  const { estates, land } = scene.contracts
  const token = scene.dice.chance(0.4) ? estates : land
  const owner = scene.player()
  const manager = scene.other(owner)
  const isApproved = scene.dice.chance(0.7)
  const run = () => token.setUpdateManager(owner, owner, manager, isApproved)
  return [{ from: owner, to: token.address, run }]
}

export const createEstate: Action = (scene) => {
  const { land, estates } = scene.contracts
  const found = scene.parcel()
  if (!found || !scene.machine.isSince(scene.machine.eras.estates)) return undefined
  const { owner } = found
  const ids = nearbyParcels(scene, found.id).slice(0, scene.dice.whole(1, ESTATE_SIDE * ESTATE_SIDE))
  const to = scene.dice.chance(0.1) ? scene.other(owner) : owner
  const text = drawText(scene.dice)
  const run = () => land.createEstate(owner, ids, to, text)
  return [{ from: owner, to: scene.dice.chance(0.9) ? land.address : estates.address, run }]
}

export const growEstate: Action = (scene) => {
  const { land } = scene.contracts
  const estate = scene.estate()
  const found = estate && scene.parcel((_, owner) => owner === estate.owner)
  if (!found) return undefined
  const ids = nearbyParcels(scene, found.id).slice(0, scene.dice.whole(1, 3))
  const run = () => land.transferToEstate(estate.owner, ids, estate.id)
  return [{ from: estate.owner, to: land.address, run }]
}

/** Takes some parcels out, or all of them: the estate then exists without parcels. */
export const shrinkEstate: Action = (scene) => {
  const { estates } = scene.contracts
  const estate = scene.estate((id) => estates.parcelsOf(id).length > 0)
  if (!estate) return undefined
  const parcels = estates.parcelsOf(estate.id)
  const ids = scene.dice.chance(0.1) ? parcels : parcels.slice(0, scene.dice.whole(1, 2))
  const to = scene.dice.chance(0.2) ? scene.other(estate.owner) : estate.owner
  const run = () => estates.removeLand(estate.owner, estate.id, ids, to)
  return [{ from: estate.owner, to: estates.address, run }]
}

/** A parcel leaves an estate and comes back: the estate's fingerprint is the old one again. */
export const shakeEstate: Action = (scene) => {
  const { estates, land } = scene.contracts
  const estate = scene.estate((id) => estates.parcelsOf(id).length > 1)
  const parcel = estate && scene.dice.pick(estates.parcelsOf(estate.id))
  if (!parcel) return undefined
  const { owner, id } = estate
  return [
    { from: owner, to: estates.address, run: () => estates.removeLand(owner, id, [parcel], owner) },
    { from: owner, to: land.address, run: () => land.transferToEstate(owner, [parcel], id) },
  ]
}

/** The owner of an estate works on one of its parcels. */
export const changeParcelOfEstate: Action = (scene) => {
  const { estates } = scene.contracts
  const estate = scene.estate((id) => estates.parcelsOf(id).length > 0)
  if (!estate) return undefined
  const { owner, id } = estate
  const parcel = scene.dice.pick(estates.parcelsOf(id))
  const text = drawText(scene.dice)
  const operator = scene.other(owner)
  const run = scene.dice.chance(0.5)
    ? () => estates.describeParcel(owner, id, parcel, text)
    : () => estates.setParcelUpdateOperator(owner, id, parcel, operator)
  return [{ from: owner, to: estates.address, run }]
}

/** Logs of contracts that a follower has to ignore. */
export const makeNoise: Action = (scene) => {
  const { currency, foreign } = scene.contracts
  const from = scene.player()
  const to = scene.other(from)
  const wei = scene.price()
  if (scene.dice.chance(0.4))
    return [{ from, to: currency.address, run: () => currency.transfer(from, to, wei) }]
  if (scene.dice.chance(0.3))
    return [{ from, to: currency.address, run: () => currency.approve(from, to, wei) }]
  if (scene.dice.chance(0.1)) return [{ from, to: foreign.address, run: () => foreign.upgrade(to) }]
  // The id of a parcel: its logs differ from those of the parcel in the address only.
  const id = scene.dice.pick(scene.contracts.land.owners.keys)
  const owner = foreign.ownerOf(id)
  const run =
    owner === ZERO_ADDRESS ? () => foreign.mint(to, id) : () => foreign.transferFrom(owner, owner, to, id)
  return [{ from: owner === ZERO_ADDRESS ? from : owner, to: foreign.address, run }]
}

/** Parcels of the same owner that follow each other in the order in which they were sold: mostly neighbours. */
function nearbyParcels({ contracts: { land } }: Scene, id: string): readonly string[] {
  const owner = land.ownerOf(id)
  const first = land.owners.keys.indexOf(id)
  return land.owners.keys
    .slice(first, first + ESTATE_SIDE * ESTATE_SIDE)
    .filter((near) => land.ownerOf(near) === owner)
}
