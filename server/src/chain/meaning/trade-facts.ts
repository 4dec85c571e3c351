import type { LandFact } from '../../land/events/land-event.ts'
import type { AssetName } from '../../land/records/assets.ts'
import type { Network } from '../chain-types.ts'
import type { EventFields } from '../logs/layouts.ts'
import { nobodyIfZero } from './addresses.ts'
import { assetOf } from './assets.ts'
import type { Meanings } from './meaning.ts'

/** What the contracts log in which offers are settled that were signed off the chain. */
export const TRADE_FACTS: Meanings<
  | 'Traded'
  | 'TradedWithDigest'
  | 'SignatureCancelled'
  | 'ContractSignatureIndexIncreased'
  | 'SignerSignatureIndexIncreased'
  | 'Paused'
  | 'Unpaused'
> = {
  // The first two versions of the contract count uses and cancellations by the hash of the signature.
  Traded: ({ caller, signatureHash, trade }, { network, contract }) =>
    tradeFacts(network, { marketplace: contract, caller, signatureHash, signatureKey: signatureHash, trade }),
  // The third one counts them by the digest of what was signed.
  TradedWithDigest: ({ caller, signatureHash, tradeDigest, trade }, { network, contract }) =>
    tradeFacts(network, { marketplace: contract, caller, signatureHash, signatureKey: tradeDigest, trade }),
  SignatureCancelled: ({ caller, key }, { contract }) => [
    { kind: 'signature-cancelled', marketplace: contract, by: caller, signatureKey: key },
  ],
  ContractSignatureIndexIncreased: ({ newValue }, { contract }) => [
    { kind: 'signature-index-raised', marketplace: contract, signer: null, index: newValue },
  ],
  SignerSignatureIndexIncreased: ({ caller, newValue }, { contract }) => [
    { kind: 'signature-index-raised', marketplace: contract, signer: caller, index: newValue },
  ],
  Paused: (_, { contract }) => [{ kind: 'marketplace-paused', marketplace: contract, isPaused: true }],
  Unpaused: (_, { contract }) => [{ kind: 'marketplace-paused', marketplace: contract, isPaused: false }],
}

type Trade = EventFields<'Traded'>['trade']
type TradedAsset = Trade['sent'][number]

/** A settled trade, and how it is named. */
interface SettledTrade {
  /** The contract that settled it. */
  readonly marketplace: string
  /** Who accepted the signed offer. */
  readonly caller: string
  readonly signatureHash: string
  /** The name under which the contract counts uses and cancellations. */
  readonly signatureKey: string
  readonly trade: Trade
}

/** What one side of a trade gave. */
interface Side {
  readonly seller: string
  /** Who gets an asset that names nobody. */
  readonly taker: string
  readonly offer: 'sale' | 'bid'
  readonly land: readonly { readonly asset: AssetName; readonly beneficiary: string }[]
  /** Assets that are not the price, land and others. */
  readonly assets: number
  /** Wei of MANA. */
  readonly manaWei: bigint
}

const ERC20 = 1n
/** MANA, at a price in dollars: the log has the amount of MANA that was paid. */
const MANA_AT_USD_PRICE = 2n
const ERC721 = 3n

/**
 * What a settled trade means for the land: a sale for each parcel or estate, and one more use of the signature. The price
 * is the MANA on the other side; it is null where there is none (a swap or a gift), or where land and MANA stand on
 * both sides, because then nobody can say which MANA is for which land. Trades without land mean nothing.
 */
function tradeFacts(network: Network, settled: SettledTrade): readonly LandFact[] {
  const { marketplace, caller, signatureHash, signatureKey, trade } = settled
  const { signer } = trade
  const sent = sideOf(network, trade.sent, { seller: signer, taker: caller, offer: 'sale' })
  const received = sideOf(network, trade.received, { seller: caller, taker: signer, offer: 'bid' })
  if (sent.land.length === 0 && received.land.length === 0) return []
  const place = { marketplace, contractId: signatureHash }
  return [
    ...salesOf(sent, received, place),
    ...salesOf(received, sent, place),
    { kind: 'signature-used', marketplace, signer, signatureKey },
  ]
}

function sideOf(
  network: Network,
  assets: readonly TradedAsset[],
  who: Pick<Side, 'seller' | 'taker' | 'offer'>,
): Side {
  const isPrice = ({ assetType, contractAddress }: TradedAsset) =>
    assetType === MANA_AT_USD_PRICE ||
    (assetType === ERC20 && contractAddress === network.contracts.MANAToken?.address)
  const land = assets.flatMap(({ assetType, contractAddress, value, beneficiary }) => {
    const asset = assetType === ERC721 ? assetOf(network, contractAddress, value) : undefined
    return asset ? [{ asset, beneficiary }] : []
  })
  const manaWei = assets.filter(isPrice).reduce((sum, { value }) => sum + value, 0n)
  return { ...who, land, assets: assets.filter((asset) => !isPrice(asset)).length, manaWei }
}

function salesOf(
  side: Side,
  opposite: Side,
  place: { readonly marketplace: string; readonly contractId: string },
): readonly LandFact[] {
  const isUnclear = opposite.land.length > 0 && side.manaWei > 0n
  const priceWei = opposite.manaWei > 0n && !isUnclear ? opposite.manaWei : null
  const { seller, taker, offer, assets } = side
  return side.land.map(({ asset, beneficiary }) => ({
    kind: 'asset-traded',
    asset,
    ...place,
    seller,
    buyer: nobodyIfZero(beneficiary) ?? taker,
    priceWei,
    assets,
    offer,
  }))
}
