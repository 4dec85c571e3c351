import { PROJECT } from '../contracts/contracts.ts'
import type { Marketplace, Order } from '../contracts/marketplaces.ts'
import { LegacyMarketplace } from '../contracts/marketplaces.ts'
import type { TokenContract } from '../contracts/tokens.ts'
import type { Address, Word } from '../encoding/words.ts'
import type { Action, Draft, Land, Scene } from './scene.ts'

type Market = Marketplace | LegacyMarketplace

/** Puts land up for sale: in the marketplace of 2018, or in the current one, there sometimes with its old functions. */
export const list: Action = (scene) => {
  const { legacyMarket } = scene.contracts
  const market = drawMarket(scene)
  const land = market === legacyMarket ? scene.parcel() : scene.asset()
  if (!market || !land) return undefined
  const draft = listing(scene, market, land)
  return [...scene.approval(land.token, land.owner, market.address, land.id), draft]
}

/** A wallet that is a contract lists several parcels in one transaction, the last of them twice at the same price. */
export const listSeveral: Action = (scene) => {
  const { market } = scene.contracts
  const first = scene.parcel()
  if (!first || !scene.machine.isSince(scene.machine.eras.marketplace)) return undefined
  const { owner, token } = first
  const others = Array.from({ length: 3 }).flatMap(() => scene.parcel((_, one) => one === owner) ?? [])
  const drafts = [first, ...others].map((land) => listing(scene, market, land))
  const all = scene.dice.chance(0.3) ? [...drafts, drafts.at(-1)!] : drafts
  const run = () => {
    for (const draft of all) draft.run()
  }
  return [...scene.approval(token, owner, market.address, first.id), { from: owner, to: owner, run }]
}

/** Lists again what is listed: the new listing replaces the old one without a log. */
export const listAgain: Action = (scene) => {
  const found = someOrder(scene, ({ token, id, order }) => scene.owns(order.seller, token, id))
  if (!found) return undefined
  const { market, token, id, order } = found
  return [
    ...scene.approval(token, order.seller, market.address, id),
    listing(scene, market, { token, id, owner: order.seller }),
  ]
}

export const buy: Action = (scene) => {
  const isGood = ({ token, id, order }: Found) =>
    order.expiresAt > BigInt(scene.timeS) && scene.owns(order.seller, token, id)
  const found = someOrder(scene, isGood)
  if (!found) return undefined
  const { market, token, id, order } = found
  const { priceWei } = order
  const buyer = scene.other(order.seller)
  const isOldStyle = isOldStylePossible(scene, token) && scene.dice.chance(0.1)
  const run =
    market instanceof LegacyMarketplace
      ? () => market.execute(buyer, token, id, priceWei)
      : () => market.execute(buyer, token, id, { priceWei, isOldStyle })
  return [{ from: buyer, to: market.address, run }]
}

/** The seller cancels, or the owner of the marketplace, who can also cancel what the seller does not own any more. */
export const cancelListing: Action = (scene) => {
  const found = someOrder(scene, () => true)
  if (!found) return undefined
  const { market, token, id, order } = found
  const caller = scene.dice.chance(0.9) ? order.seller : PROJECT
  const isOldStyle = isOldStylePossible(scene, token) && scene.dice.chance(0.1)
  const run =
    market instanceof LegacyMarketplace
      ? () => market.cancel(caller, token, id)
      : () => market.cancel(caller, token, id, isOldStyle)
  return [{ from: caller, to: market.address, run }]
}

/** The owner of the old marketplace cancels a parcel that is not listed: the log has no id and no seller. */
export const cancelNothing: Action = (scene) => {
  const { legacyMarket, land } = scene.contracts
  const parcel = scene.parcel()
  if (!parcel || !scene.machine.isSince(scene.machine.eras.legacyMarketplace)) return undefined
  return [
    { from: PROJECT, to: legacyMarket.address, run: () => legacyMarket.cancel(PROJECT, land, parcel.id) },
  ]
}

/** Listed land goes to somebody else: its listing is dead, but the contract keeps it. */
export const moveListed: Action = (scene) => {
  const found = someOrder(scene, ({ token, id, order }) => scene.owns(order.seller, token, id))
  if (!found) return undefined
  const { token, id, order } = found
  const to = scene.other(order.seller)
  const run = () => token.transferFrom(order.seller, order.seller, to, id)
  return [{ from: order.seller, to: token.address, run }]
}

/** … and comes back to the seller: the listing is alive again, and nothing is logged for it. */
export const returnListed: Action = (scene) => {
  const isAway = ({ token, id, order }: Found) =>
    !scene.owns(order.seller, token, id) && scene.isOwnedByPlayer(token, id)
  const found = someOrder(scene, isAway)
  if (!found) return undefined
  const { token, id, order } = found
  const owner = token.ownerOf(id)
  const run = () => token.transferFrom(owner, owner, order.seller, id)
  return [{ from: owner, to: token.address, run }]
}

/** Names and wearables are traded in the same marketplace, with ids that parcels have too. */
export const listForeign: Action = (scene) => {
  const { foreign, market } = scene.contracts
  if (!scene.machine.isSince(scene.machine.eras.marketplace)) return undefined
  const found = scene.dice.find(foreign.owners.keys, (id) => {
    const owner = foreign.ownerOf(id)
    return scene.isOwnedByPlayer(foreign, id) ? { id, owner } : undefined
  })
  if (!found) return undefined
  const { id, owner } = found
  const draft = listing(scene, market, { token: foreign, id, owner })
  return [...scene.approval(foreign, owner, market.address, id), draft]
}

interface Found {
  readonly market: Market
  readonly token: TokenContract
  readonly id: Word
  readonly order: Order
}

/** A stored order that meets the condition. */
export function someOrder(scene: Scene, condition: (found: Found) => boolean): Found | undefined {
  const market = drawMarket(scene)
  return (
    market &&
    scene.dice.find(market.orders.keys, (key) => {
      const order = market.orders.get(key)
      const [address, id] = key.split(' ') as [Address, Word]
      if (!order) return undefined
      const found = { market, token: scene.token(address), id, order }
      return condition(found) ? found : undefined
    })
  )
}

function drawMarket(scene: Scene): Market | undefined {
  const { eras } = scene.machine
  const { market, legacyMarket } = scene.contracts
  if (!scene.machine.isSince(eras.legacyMarketplace)) return undefined
  const isLegacy = !scene.machine.isSince(eras.marketplace) || scene.dice.chance(0.15)
  return isLegacy ? legacyMarket : market
}

function listing(
  scene: Scene,
  market: Market,
  land: Pick<Land, 'id' | 'owner'> & { readonly token: TokenContract },
): Draft {
  const { token, id, owner } = land
  const offer = { token, id, priceWei: scene.price(), expiresAt: scene.expiry() }
  const isOldStyle = isOldStylePossible(scene, token) && scene.dice.chance(0.15)
  const run =
    market instanceof LegacyMarketplace
      ? () => market.create(owner, offer)
      : () => market.create(owner, offer, isOldStyle)
  return { from: owner, to: market.address, run }
}

/** The old functions know parcels only. */
function isOldStylePossible({ contracts }: Scene, token: TokenContract): boolean {
  return token === contracts.land
}
