import { PROJECT } from '../contracts/contracts.ts'
import type { TokenContract } from '../contracts/tokens.ts'
import { ASSET_TYPE, type OffChainMarketplace, type Trade, type TradedAsset } from '../contracts/trades.ts'
import { callOf, type Draft, draftOf } from '../contracts/transactions.ts'
import { type Address, hashOfHex, numberWord, ZERO_ADDRESS } from '../encoding/words.ts'
import type { Action, Land, Scene } from './scene.ts'

const DAY_S = 86_400
const DOLLARS_PERCENT = 20

/** An offer that was signed off the chain is accepted: somebody buys signed land. */
export const acceptSignedListing: Action = (scene) => {
  const land = scene.asset()
  const market = drawMarket(scene)
  if (!land || !market) return undefined
  const buyer = scene.other(land.owner)
  const others = scene.random.chance(15)
    ? scene.parcel(({ id, owner }) => owner === land.owner && id !== land.id)
    : undefined
  const sent = [land, ...(others ? [others] : [])].map(tokenAsset)
  const received = scene.random.chance(5) ? [] : [money(scene, land.owner)]
  const trade = draw(scene, market, { signer: land.owner, sent, received })
  return settle(scene, { market, land, caller: buyer, trade })
}

/** The owner accepts a bid that was signed off the chain. */
export const acceptSignedBid: Action = (scene) => {
  const land = scene.asset()
  const market = drawMarket(scene)
  if (!land || !market) return undefined
  const bidder = scene.other(land.owner)
  const sent = [money(scene, ZERO_ADDRESS)]
  const received = [tokenAsset(land)]
  const trade = draw(scene, market, { signer: bidder, sent, received })
  return settle(scene, { market, land, caller: land.owner, trade })
}

/** Land for land, without money. */
export const swap: Action = (scene) => {
  const land = scene.parcel()
  const other = land && scene.parcel(({ owner }) => owner !== land.owner)
  const market = drawMarket(scene)
  if (!land || !other || !market) return undefined
  const trade = draw(scene, market, {
    signer: land.owner,
    sent: [tokenAsset(land)],
    received: [tokenAsset(other)],
  })
  const approvals = scene.approval(other, market)
  return [...approvals, ...settle(scene, { market, land, caller: other.owner, trade })]
}

/** A trade without land: money for money. */
export const tradeNoLand: Action = (scene) => {
  const market = drawMarket(scene)
  if (!market) return undefined
  const signer = scene.player()
  const caller = scene.other(signer)
  const trade = draw(scene, market, {
    signer,
    sent: [money(scene, ZERO_ADDRESS)],
    received: [money(scene, ZERO_ADDRESS)],
  })
  return [draftOf(caller, market, 'accept', caller, trade)]
}

/** Signatures are cancelled: by their signer, twice, or by a stranger, for whom it means nothing. */
export const cancelSignature: Action = (scene) => {
  const market = drawMarket(scene)
  if (!market) return undefined
  const used = [...market.uses.keys]
  const known =
    used.length > 0 && scene.random.chance(50) ? scene.random.pick(used).split(' ')[1]! : undefined
  const key = known ?? hashOfHex(scene.random.hex(130))
  const caller = scene.player()
  const draft = draftOf(caller, market, 'cancel', caller, key)
  return scene.random.chance(10) ? [draft, draft] : [draft]
}

export const raiseIndex: Action = (scene) => {
  const market = drawMarket(scene)
  if (!market) return undefined
  const caller = scene.player()
  if (scene.random.chance(95)) return [draftOf(caller, market, 'raiseSignerIndex', caller)]
  // The project pauses the marketplace and the contract of rents meanwhile.
  const { rentals } = scene.contracts
  const paused = scene.machine.isSince(scene.machine.eras.rentals) ? [market, rentals] : [market]
  const calls = [
    ...paused.map((contract) => callOf(contract, 'pause', PROJECT, true)),
    callOf(market, 'raiseContractIndex', PROJECT),
    ...paused.map((contract) => callOf(contract, 'pause', PROJECT, false)),
  ]
  return [{ from: PROJECT, to: market.address, calls }]
}

function drawMarket({ contracts, machine, random }: Scene): OffChainMarketplace | undefined {
  const open = contracts.trades.filter((_, i) => machine.isSince(machine.eras.trades[i]!))
  return open.length === 0 ? undefined : random.pick(open)
}

function settle(
  scene: Scene,
  { market, land, caller, trade }: { market: OffChainMarketplace; land: Land; caller: Address; trade: Trade },
): readonly Draft[] {
  const approvals = scene.approval(land, market)
  return [...approvals, draftOf(caller, market, 'accept', caller, trade)]
}

function draw(
  { random, timeS }: Scene,
  market: OffChainMarketplace,
  parts: Pick<Trade, 'signer' | 'sent' | 'received'>,
): Trade {
  const check = {
    contract: market.address,
    selector: '0x70a08231',
    value: random.hex(2 * random.between(0, 40)),
    isRequired: true,
  }
  return {
    ...parts,
    signature: `${random.hex(128)}1b`,
    uses: random.chance(20) ? 3 : 1,
    expirationS: timeS + 30 * DAY_S,
    effectiveS: timeS - DAY_S,
    salt: random.hex(64),
    contractIndex: market.contractIndex(),
    signerIndex: market.signerIndex(parts.signer),
    externalChecks: random.chance(10) ? [check] : [],
  }
}

function tokenAsset({ token, id }: Land): TradedAsset {
  const contract: TokenContract = token
  const extra = contract.fingerprint?.(id) ?? '0x'
  return { assetType: ASSET_TYPE.token, contract, value: id, beneficiary: ZERO_ADDRESS, extra }
}

function money(scene: Scene, beneficiary: Address): TradedAsset {
  const assetType = scene.random.chance(DOLLARS_PERCENT) ? ASSET_TYPE.dollars : ASSET_TYPE.currency
  const value = numberWord(scene.price())
  return { assetType, contract: scene.contracts.currency, value, beneficiary, extra: '0x' }
}
