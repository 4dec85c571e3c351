import { type Address, numberWord, type Word } from '../encoding/words.ts'
import type { Contracts } from './contracts.ts'
import { Revert } from './machine.ts'
import type { LandToken } from './tokens.ts'

/** A registry of land. */
export type Registry = 'land' | 'estates'

/** The asset that a call is about. */
export interface NamedAsset {
  readonly registry: Registry
  readonly id: Word
}

/**
 * A transaction as data, which a store can keep and run again: who calls which function. Amounts and times are decimal
 * digits; texts are UTF-8.
 */
export type Call = { readonly from: Address } & (
  | (NamedAsset & { readonly does: 'transfer'; readonly to: Address })
  | (NamedAsset & { readonly does: 'describe'; readonly text: string })
  /** Approves one operator for the asset. */
  | (NamedAsset & { readonly does: 'approve'; readonly operator: Address })
  | (NamedAsset & { readonly does: 'set-update-operator'; readonly operator: Address })
  | (NamedAsset & { readonly does: 'list'; readonly priceWei: string; readonly expiresAtS: string })
  | (NamedAsset & { readonly does: 'buy'; readonly market: MarketName; readonly priceWei: string })
  | (NamedAsset & { readonly does: 'cancel-listing'; readonly market: MarketName })
  | (NamedAsset & {
      readonly does: 'bid'
      readonly priceWei: string
      readonly durationS: string
      readonly fingerprint: string
    })
  | (NamedAsset & { readonly does: 'accept-bid'; readonly bidder: Address })
  | (NamedAsset & { readonly does: 'cancel-bid' })
  | (NamedAsset & {
      readonly does: 'rent'
      readonly lessor: Address
      readonly days: number
      readonly pricePerDayWei: string
      readonly signature: string
    })
  | (NamedAsset & { readonly does: 'end-rent' })
  | { readonly does: 'make-estate'; readonly parcels: readonly Word[]; readonly text: string }
  | { readonly does: 'grow-estate'; readonly estateId: Word; readonly parcels: readonly Word[] }
  | { readonly does: 'shrink-estate'; readonly estateId: Word; readonly parcels: readonly Word[] }
)

export type MarketName = 'market' | 'legacyMarket'

/** The contract that a call is sent to. */
export function targetOf(contracts: Contracts, call: Call): Address {
  const { market, bids, rentals, land, estates } = contracts
  switch (call.does) {
    case 'transfer':
    case 'describe':
    case 'approve':
    case 'set-update-operator':
    case 'accept-bid':
      return contracts[call.registry].address
    case 'list':
      return market.address
    case 'buy':
    case 'cancel-listing':
      return contracts[call.market].address
    case 'bid':
    case 'cancel-bid':
      return bids.address
    case 'rent':
    case 'end-rent':
      return rentals.address
    case 'make-estate':
    case 'grow-estate':
      return land.address
    case 'shrink-estate':
      return estates.address
  }
}

/** Runs a call. @throws {Revert} where the contract refuses it */
export function runCall(contracts: Contracts, call: Call): void {
  switch (call.does) {
    case 'make-estate':
      contracts.land.createEstate(call.from, call.parcels, call.from, Buffer.from(call.text))
      break
    case 'grow-estate':
      contracts.land.transferToEstate(call.from, call.parcels, call.estateId)
      break
    case 'shrink-estate':
      contracts.estates.removeLand(call.from, call.estateId, call.parcels, call.from)
      break
    default:
      runAssetCall(contracts, contracts[call.registry], call)
      break
  }
}

type AssetCall = Extract<Call, NamedAsset>

function runAssetCall(contracts: Contracts, token: LandToken, call: AssetCall): void {
  const { market, bids, rentals } = contracts
  const { from, id } = call
  switch (call.does) {
    case 'transfer':
      token.transferFrom(from, from, call.to, id)
      break
    case 'describe':
      token.describe(from, id, Buffer.from(call.text))
      break
    case 'approve':
      token.approve(from, call.operator, id)
      break
    case 'set-update-operator':
      token.setUpdateOperator(from, id, call.operator)
      break
    case 'list':
      market.create(from, {
        ...{ token, id },
        priceWei: BigInt(call.priceWei),
        expiresAt: BigInt(call.expiresAtS),
      })
      break
    case 'buy':
      buy(contracts, token, call)
      break
    case 'cancel-listing':
      contracts[call.market].cancel(from, token, id)
      break
    case 'bid': {
      const { fingerprint } = call
      const terms = { priceWei: BigInt(call.priceWei), durationS: BigInt(call.durationS), fingerprint }
      bids.place(from, token, id, terms)
      break
    }
    case 'accept-bid': {
      const bid = bids.bidsOf(token.address, id).find(({ bidder }) => bidder === call.bidder)
      if (!bid) throw new Revert('there is no such bid')
      bids.accept(from, token, id, bid.id)
      break
    }
    case 'cancel-bid':
      bids.cancel(from, token.address, id)
      break
    case 'rent': {
      const { lessor, days, signature } = call
      const pricePerDayWei = BigInt(call.pricePerDayWei)
      const terms = { lessor, tenant: from, operator: from, days, pricePerDayWei, signature }
      rentals.rent(from, token, id, terms)
      break
    }
    case 'end-rent':
      rentals.claim(from, token, id)
      break
  }
}

function buy(
  { market, legacyMarket }: Contracts,
  token: LandToken,
  call: Extract<AssetCall, { does: 'buy' }>,
) {
  const priceWei = BigInt(call.priceWei)
  if (call.market === 'market') market.execute(call.from, token, call.id, { priceWei })
  else legacyMarket.execute(call.from, token, call.id, priceWei)
}

/** The id of an estate as a word. */
export const estateWord = (id: string | number): Word => numberWord(BigInt(id))
