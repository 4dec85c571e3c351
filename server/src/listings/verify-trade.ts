import type { AssetName } from '../land/records/assets.ts'
import type { Registries } from '../land/records/contracts.ts'
import { type CheckedSignature, checkSignature } from './checked-signature.ts'
import { offeredAsset } from './offered-asset.ts'
import { ASSET_KINDS, type SignedTrade, type TradeAsset } from './signed-trade.ts'
import { domainSeparator, tradeDigest } from './trade-digest.ts'

/** The contracts of a network that trades are about. Addresses in lower case. */
export interface TradeContracts {
  readonly chainId: number
  readonly registries: Registries
  readonly mana: string
  /** Those that settle trades, and by what each of them names one when it is used or cancelled. */
  readonly marketplaces: readonly {
    readonly address: string
    readonly keyIs: 'hash of the signature' | 'digest'
  }[]
}

/** A trade about one parcel or estate for one price. */
export interface LandOffer {
  /** Whether the signer sells the asset, or wants to buy it. */
  readonly kind: 'sale' | 'bid'
  readonly asset: AssetName
  readonly currency: 'mana' | 'usd'
  /** In wei of MANA, or in dollars with 18 decimals. */
  readonly price: bigint
  /** The fingerprint of an estate, in hex; `0x` for none. */
  readonly fingerprint: string
  /** Whether everybody can accept it: not if it names a list of addresses, or what who accepts it must own. */
  readonly isForEverybody: boolean
}

/** What a trade is, as far as its own content says. */
export interface VerifiedTrade extends CheckedSignature {
  readonly offer: LandOffer
  /** Under which the contract counts its uses and cancellations, 32 bytes in hex. */
  readonly signatureKey: string
}

/** Checks trades against the contracts of a network: what they offer, and who signed them. */
export class TradeVerifier {
  private readonly contracts: TradeContracts
  private readonly domains: ReadonlyMap<string, { separator: string; isKeyDigest: boolean }>

  constructor(contracts: TradeContracts) {
    this.contracts = contracts
    const { chainId, marketplaces } = contracts
    this.domains = new Map(
      marketplaces.map(({ address, keyIs }) => [
        address,
        {
          separator: domainSeparator({ chainId, contract: address }),
          isKeyDigest: keyIs === 'digest',
        },
      ]),
    )
  }

  /**
   * @returns undefined for a trade of another contract, or one that is not about one parcel or estate for one price
   */
  verify(trade: SignedTrade): VerifiedTrade | undefined {
    const domain = this.domains.get(trade.contract)
    const offer = domain && offerOf(trade, this.contracts)
    if (!offer) return undefined
    const digest = tradeDigest(trade, domain.separator)
    const checked = checkSignature(digest, trade)
    const signatureKey = domain.isKeyDigest
      ? `0x${Buffer.from(digest).toString('hex')}`
      : checked.signatureHash
    return { offer, ...checked, signatureKey }
  }
}

/** @returns undefined where it is not one parcel or estate on one side, and one price on the other */
function offerOf(
  { sent, received, checks }: Pick<SignedTrade, 'sent' | 'received' | 'checks'>,
  contracts: TradeContracts,
): LandOffer | undefined {
  const [gives, gets] = [sent[0], received[0]]
  if (!gives || !gets || sent.length !== 1 || received.length !== 1) return undefined
  const isSale = gives.assetType === ASSET_KINDS.ERC721
  const [land, price] = isSale ? [gives, gets] : [gets, gives]
  const { assetType, contractAddress, value } = land
  const isToken = assetType === ASSET_KINDS.ERC721
  const asset = isToken ? offeredAsset(contracts.registries, contractAddress, value) : undefined
  const currency = currencyOf(price, contracts)
  if (!asset || !currency || price.value === 0n) return undefined
  const isPrivate = !/^0x0*$/.test(checks.allowedRoot)
  return {
    kind: isSale ? 'sale' : 'bid',
    asset,
    currency,
    price: price.value,
    fingerprint: land.extra,
    isForEverybody: !isPrivate && checks.externalChecks.length === 0,
  }
}

/** The contract takes its own MANA for a price in dollars, whatever address the trade names. */
function currencyOf(
  { assetType, contractAddress }: TradeAsset,
  { mana }: TradeContracts,
): LandOffer['currency'] | undefined {
  if (assetType === ASSET_KINDS.USD_IN_MANA) return 'usd'
  return assetType === ASSET_KINDS.ERC20 && contractAddress === mana ? 'mana' : undefined
}
