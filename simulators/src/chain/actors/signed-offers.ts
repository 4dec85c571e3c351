import { type ListingDraft, signListing, type TradeJson } from '../../listings/signed-listing.ts'
import { type RentalDraft, type RentalJson, signRental } from '../../listings/signed-rental.ts'
import { Random } from '../../random.ts'
import { type Wallet, wallets } from '../../wallets.ts'
import type { Contracts } from '../contracts/contracts.ts'
import type { LandToken, TokenContract } from '../contracts/tokens.ts'
import { ASSET_TYPE, type OffChainMarketplace, type Trade } from '../contracts/trades.ts'
import { type Draft, draftOf } from '../contracts/transactions.ts'
import { type Address, numberWord, type Word, ZERO_ADDRESS } from '../encoding/words.ts'

/** An offer that its owner has signed, and the chain knows nothing of. */
export interface SignedOffer {
  readonly token: LandToken
  readonly id: Word
  readonly owner: Address
  readonly json: TradeJson
}

const DAY_S = 86_400
/** An owner decides anew this often whether to offer an asset: so long is an offer good at most. */
const PERIOD_S = 3 * DAY_S
const PARCELS_PERCENT = 12
const ESTATES_PERCENT = 35
const DOLLARS_PERCENT = 25
const RENTALS_PERCENT = 3
const MANA = 10n ** 18n
/** Prices of one parcel, in MANA. */
const PRICES = [1_000, 15_000] as const
/** How many dollars ten MANA are. */
const DOLLARS_OF_TEN = 3n

/**
 * Offers that owners of the demo world sign off the chain: those whose keys are known ({@link wallets}). Which there are follows from
 * the seed, the state of the contracts and the time alone, so none is stored: an offer begins and ends with its period, and is gone when it
 * is used or cancelled, or the asset has another owner or other parcels.
 */
export class SignedOffers {
  private readonly seed: number
  private readonly chainId: number
  private readonly contracts: Contracts
  /** The offers that there were last, by their ids. */
  private signed = new Map<string, TradeJson>()
  private signedRentals = new Map<string, RentalJson>()

  constructor(parts: { readonly seed: number; readonly chainId: number; readonly contracts: Contracts }) {
    this.seed = parts.seed
    this.chainId = parts.chainId
    this.contracts = parts.contracts
  }

  /** The marketplace that settles them. */
  get market(): OffChainMarketplace {
    return this.contracts.trades[1]
  }

  /** Lets the marketplace and the contract of rents transfer what the owners have, where they may not yet. */
  approvals(): readonly Draft[] {
    const { land, estates, rentals } = this.contracts
    return [land, estates].flatMap((token) =>
      [this.market, rentals].flatMap((operator) =>
        wallets()
          .filter(({ address }) => !token.isApprovedForAll(address, operator.address))
          .map(({ address }) =>
            draftOf(address, token, 'setApprovalForAll', address, operator.address, true),
          ),
      ),
    )
  }

  /** All that can be accepted at a time, the oldest first. @param timeS seconds since 1970 */
  openAt(timeS: number): readonly SignedOffer[] {
    const offers: SignedOffer[] = []
    this.forEachOwned((wallet, token, id) => {
      const json = this.offerOf(wallet, token, id, timeS)
      if (json) offers.push({ token, id, owner: wallet.address, json })
    })
    this.signed = new Map(offers.map(({ json }) => [json.id, json]))
    return offers
      .filter(({ json }) => this.isOpen(json))
      .sort(
        (one, other) => one.json.createdAt - other.json.createdAt || (one.json.id < other.json.id ? -1 : 1),
      )
  }

  /** What the offer of an asset asks for at a time, in wei of MANA; undefined without one. */
  priceOf(
    asset: { readonly token: TokenContract; readonly id: Word; readonly owner: Address },
    timeS: number,
  ): bigint | undefined {
    const wallet = wallets().find(({ address }) => address === asset.owner)
    const { land, estates } = this.contracts
    const token = [land, estates].find((one) => one === asset.token)
    const json = wallet && token && this.offerOf(wallet, token, asset.id, timeS)
    return json && this.isOpen(json) ? this.priceWei({ json }) : undefined
  }

  /** All offers to rent that can be accepted at a time. */
  rentalsAt(timeS: number): readonly RentalJson[] {
    const offers: RentalJson[] = []
    this.forEachOwned((wallet, token, id) => {
      const json = this.rentalOf(wallet, token, id, timeS)
      if (json) offers.push(json)
    })
    this.signedRentals = new Map(offers.map((json) => [json.id, json]))
    return offers
  }

  /** @param buyer who accepts it */
  acceptance(offer: SignedOffer, buyer: Address): Draft {
    return draftOf(buyer, this.market, 'accept', buyer, this.tradeOf(offer))
  }

  cancellation({ owner, json }: SignedOffer): Draft {
    return draftOf(owner, this.market, 'cancel', owner, this.market.keyOfSignature(json.signature))
  }

  /** What it costs in wei of MANA. */
  priceWei({ json }: Pick<SignedOffer, 'json'>): bigint {
    const [{ assetType, amount }] = json.received
    return assetType === ASSET_TYPE.dollars ? (BigInt(amount) * 10n) / DOLLARS_OF_TEN : BigInt(amount)
  }

  private forEachOwned(visit: (wallet: Wallet, token: LandToken, id: Word) => void): void {
    const byAddress = new Map(wallets().map((wallet) => [wallet.address, wallet]))
    for (const token of [this.contracts.land, this.contracts.estates])
      token.owners.forEach((id, owner) => {
        const wallet = byAddress.get(owner)
        if (wallet) visit(wallet, token, id)
      })
  }

  private rentalOf(wallet: Wallet, token: LandToken, id: Word, timeS: number): RentalJson | undefined {
    const { estates, rentals } = this.contracts
    const isEstate = token === estates
    const asset = `${token.address} ${id}`
    const { random, beginS } = this.periodOf(`rental of ${asset} by ${wallet.address}`, timeS)
    const parcels = isEstate ? estates.parcelsOf(id).length : 1
    if (parcels === 0 || !random.chance(RENTALS_PERCENT)) return undefined
    const index = rentals.assetIndex(wallet.address, token.address, id)
    const pricePerDay = (days: number) => String((BigInt(random.between(days, 60) * parcels) * MANA) / 2n)
    const draft: RentalDraft = {
      id: random.fork(String(index)).uuid(),
      ...{ key: wallet.key, chainId: this.chainId, rentals: rentals.address, registry: token.address },
      ...{ isEstate, tokenId: String(BigInt(id)), indexes: [0, 0, index] },
      periods: [
        { minDays: 1, maxDays: 7, pricePerDay: pricePerDay(20) },
        { minDays: 8, maxDays: 30, pricePerDay: pricePerDay(10) },
      ],
      ...{ createdAt: beginS * 1_000, expiration: (beginS + PERIOD_S) * 1_000 },
    }
    return this.signedRentals.get(draft.id) ?? signRental(draft)
  }

  /** The period that something is in at a time: when it began, and its own random numbers. */
  private periodOf(name: string, timeS: number): { readonly random: Random; readonly beginS: number } {
    const random = new Random(this.seed)
    const sinceS = timeS - random.fork(name).below(PERIOD_S)
    const period = Math.floor(sinceS / PERIOD_S)
    return {
      random: random.fork(`period ${period} of ${name}`),
      beginS: timeS - (sinceS - period * PERIOD_S),
    }
  }

  private offerOf(wallet: Wallet, token: LandToken, id: Word, timeS: number): TradeJson | undefined {
    const { estates, land, currency } = this.contracts
    const isEstate = token === estates
    const parcels = isEstate ? estates.parcelsOf(id).length : 1
    if (parcels === 0) return undefined
    const asset = `${token.address} ${id}`
    const { random, beginS } = this.periodOf(`offer of ${asset} by ${wallet.address}`, timeS)
    if (!random.chance(isEstate ? ESTATES_PERCENT : PARCELS_PERCENT)) return undefined
    const inDollars = random.chance(DOLLARS_PERCENT)
    const mana = BigInt(random.between(...PRICES) * parcels) * MANA
    // Its owner would rather accept such a bid.
    if (this.contracts.bids.highest(token.address, id) >= mana) return undefined
    const fingerprint = isEstate ? estates.secondFingerprint(id) : ''
    const indexes = {
      contractIndex: this.market.contractIndex(),
      signerIndex: this.market.signerIndex(wallet.address),
    }
    const draft: ListingDraft = {
      // An estate with other parcels, or after all offers were cancelled, has another offer.
      id: random.fork([fingerprint, ...Object.values(indexes)].join()).uuid(),
      ...{ key: wallet.key, chainId: this.chainId, marketplace: this.market.address },
      ...{ registry: isEstate ? estates.address : land.address, tokenId: String(BigInt(id)) },
      ...{ mana: currency.address, inDollars, fingerprint, ...indexes },
      amount: String(inDollars ? (mana * DOLLARS_OF_TEN) / 10n : mana),
      ...{ createdAt: beginS * 1_000, expiration: (beginS + PERIOD_S) * 1_000 },
    }
    return this.signed.get(draft.id) ?? signListing(draft)
  }

  private isOpen({ signer, signature }: TradeJson): boolean {
    return !this.market.isEnded(signer, this.market.keyOfSignature(signature))
  }

  private tradeOf(offer: SignedOffer): Trade {
    const { token, id, owner, json } = offer
    const { checks, sent, received, signature } = json
    const price = numberWord(this.priceWei(offer))
    const { assetType } = received[0]
    return {
      ...{ signer: owner, signature, uses: checks.uses, salt: checks.salt },
      expirationS: checks.expiration / 1_000,
      effectiveS: checks.effective / 1_000,
      ...{ contractIndex: checks.contractSignatureIndex, signerIndex: checks.signerSignatureIndex },
      externalChecks: [],
      sent: [
        {
          ...{ assetType: ASSET_TYPE.token, contract: token, value: id, beneficiary: ZERO_ADDRESS },
          extra: sent[0].extra || '0x',
        },
      ],
      received: [
        { assetType, contract: this.contracts.currency, value: price, beneficiary: owner, extra: '0x' },
      ],
    }
  }
}
