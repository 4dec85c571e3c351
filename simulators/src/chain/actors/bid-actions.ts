import type { Bid } from '../contracts/bids.ts'
import type { TokenContract } from '../contracts/tokens.ts'
import type { Address, Word } from '../encoding/words.ts'
import type { Action, Scene } from './scene.ts'

const DAY_S = 86_400

export const placeBid: Action = (scene) => {
  const land = hasBids(scene) ? (someAssetOfPlayer(scene) ?? scene.asset()) : undefined
  return land && bidFor(scene, land.token, land.id)
}

/** Bids for land that has bids: several for one asset, or the same bidder again, whose bid is replaced. */
export const bidAgain: Action = (scene) => {
  const found = someBid(scene, ({ token, id }) => scene.isOwnedByPlayer(token, id))
  if (!found) return undefined
  const { token, id, bid } = found
  return bidFor(scene, token, id, scene.dice.chance(0.4) ? bid.bidder : undefined)
}

/** The transaction may fail: the bid has expired, or the estate has other parcels by now. */
export const acceptBid: Action = (scene) => {
  const isGood = ({ token, id, bid }: Found) =>
    scene.isOwnedByPlayer(token, id) &&
    bid.bidder !== token.ownerOf(id) &&
    (bid.expiresAtS >= BigInt(scene.timeS) || scene.dice.chance(0.05))
  const found = someBid(scene, isGood)
  if (!found) return undefined
  const { token, id, bid } = found
  const seller = token.ownerOf(id)
  const { bids } = scene.contracts
  return [{ from: seller, to: token.address, run: () => bids.accept(seller, token, id, bid.id) }]
}

export const cancelBid: Action = (scene) => {
  const found = someBid(scene, () => true)
  if (!found) return undefined
  const { token, id, bid } = found
  const { bids } = scene.contracts
  return [{ from: bid.bidder, to: bids.address, run: () => bids.cancel(bid.bidder, token.address, id) }]
}

export const removeExpiredBid: Action = (scene) => {
  const found = someBid(scene, ({ bid }) => bid.expiresAtS < BigInt(scene.timeS))
  if (!found) return undefined
  const { token, id, bid } = found
  const { bids } = scene.contracts
  const run = () => bids.removeExpired(token.address, id, bid.bidder)
  return [{ from: scene.player(), to: bids.address, run }]
}

interface Found {
  readonly token: TokenContract
  readonly id: Word
  readonly bid: Bid
}

function someBid(scene: Scene, condition: (found: Found) => boolean): Found | undefined {
  const { bids } = scene.contracts
  return scene.dice.find(bids.bids.keys, (key) => {
    const active = bids.bids.get(key)
    if (!active?.length) return undefined
    const [address, id] = key.split(' ') as [Address, Word]
    const found = { token: scene.token(address), id, bid: scene.dice.pick(active) }
    return condition(found) ? found : undefined
  })
}

function bidFor(scene: Scene, token: TokenContract, id: Word, bidder = scene.other(token.ownerOf(id))) {
  const { bids } = scene.contracts
  const { dice } = scene
  // For parcels the web application sends nothing; the contract takes whatever comes.
  const stray = dice.chance(0.02) ? dice.bytes(dice.whole(1, 40)) : undefined
  const fingerprint = stray ?? token.fingerprint?.(id) ?? '0x'
  const durationS = BigInt(dice.chance(0.2) ? dice.whole(60, 3_600) : dice.whole(1, 180) * DAY_S)
  const terms = { priceWei: scene.price(), durationS, fingerprint }
  return [{ from: bidder, to: bids.address, run: () => bids.place(bidder, token, id, terms) }]
}

/** Sometimes for tokens that are no land, and for parcels of estates, whose bids nobody can accept. */
function someAssetOfPlayer(scene: Scene): { token: TokenContract; id: Word } | undefined {
  const { foreign, estates, land } = scene.contracts
  if (scene.dice.chance(0.05)) {
    return scene.dice.find(foreign.owners.keys, (id) => ({ token: foreign, id }), 1)
  }
  if (scene.dice.chance(0.05)) {
    return scene.dice.find(estates.estateOfParcel.keys, (id) => ({ token: land, id }), 1)
  }
  return undefined
}

function hasBids({ machine }: Scene): boolean {
  return machine.isSince(machine.eras.bids)
}
