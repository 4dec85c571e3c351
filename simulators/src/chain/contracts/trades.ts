import { type Argument, address, array, bool, bytes, bytes4, bytes32, tuple, uint } from '../encoding/abi.ts'
import {
  type Address,
  addressWord,
  bytesOf,
  hashOfHex,
  hashOfParts,
  numberWord,
  type Word,
  ZERO_ADDRESS,
} from '../encoding/words.ts'
import { Cells } from './cells.ts'
import { Contract, type Machine, Revert, require } from './machine.ts'
import { type Currency, pairKey, type TokenContract } from './tokens.ts'
import { TOPIC } from './topics.ts'

/** Kinds of assets in a trade. Of the third, the amount was signed in US dollars and is logged in MANA. */
export const ASSET_TYPE = { currency: 1, dollars: 2, token: 3 } as const

export interface TradedAsset {
  readonly assetType: number
  readonly contract: TokenContract | Currency
  /** Id of the token, or amount in wei. */
  readonly value: Word
  /** The zero address: the other party. */
  readonly beneficiary: Address
  /** Hex; the fingerprint for estates. */
  readonly extra: string
}

/** An offer that was signed off the chain. Who accepts it is the caller. */
export interface Trade {
  readonly signer: Address
  /** 65 bytes in hex. */
  readonly signature: string
  readonly uses: number
  readonly expirationS: number
  readonly effectiveS: number
  readonly salt: Word
  readonly contractIndex: number
  readonly signerIndex: number
  /** Conditions that only some buyers meet. They are logged, and not checked. */
  readonly externalChecks: readonly ExternalCheck[]
  readonly sent: readonly TradedAsset[]
  readonly received: readonly TradedAsset[]
}

export interface ExternalCheck {
  readonly contract: Address
  /** 4 bytes in hex. */
  readonly selector: string
  /** Hex. */
  readonly value: string
  readonly isRequired: boolean
}

const CONTRACT_INDEX = 'contract'
const PAUSED = 'paused'
const NO_ROOT = numberWord(0)

/** Settles trades that are signed off the chain. Of an offer, the chain only has what ends it. */
export class OffChainMarketplace extends Contract {
  /** Keys are {@link pairKey} of signer and the key of the signature. */
  readonly uses: Cells<number>
  readonly cancelled: Cells<true>
  /** The index of each signer, and of the whole contract under the key `contract`. */
  readonly indexes: Cells<number>
  private readonly paused: Cells<boolean>
  private readonly version: 1 | 2 | 3
  private readonly owner: Address
  private readonly firstBlock: number

  constructor(
    machine: Machine,
    self: Address,
    options: { version: 1 | 2 | 3; owner: Address; firstBlock: number },
  ) {
    super(machine, self)
    this.uses = new Cells(machine.history)
    this.cancelled = new Cells(machine.history)
    this.indexes = new Cells(machine.history)
    this.paused = new Cells(machine.history)
    this.version = options.version
    this.owner = options.owner
    this.firstBlock = options.firstBlock
  }

  /** What uses and cancellations of a trade are counted by: the hash of the signature, since the third version of the trade. */
  signatureKey(trade: Trade): Word {
    return this.version === 3 ? digestOf(trade, this.address) : this.keyOfSignature(trade.signature)
  }

  /** {@link signatureKey} before the third version. */
  keyOfSignature(signature: string): Word {
    return hashOfHex(signature)
  }

  /** Whether the signer has cancelled a trade, or it was used. @param key {@link signatureKey} */
  isEnded(signer: Address, key: Word): boolean {
    const pair = pairKey(signer, key)
    return this.cancelled.get(pair) !== undefined || (this.uses.get(pair) ?? 0) > 0
  }

  signerIndex(signer: Address, at?: number): number {
    return this.indexes.get(signer, at) ?? 0
  }

  contractIndex(at?: number): number {
    return this.indexes.get(CONTRACT_INDEX, at) ?? 0
  }

  accept(caller: Address, trade: Trade): void {
    this.checkTrade(trade)
    const used = pairKey(trade.signer, this.signatureKey(trade))
    this.uses.set(used, (this.uses.get(used) ?? 0) + 1)
    const sent = trade.sent.map((asset) => this.hand(asset, trade.signer, caller))
    const received = trade.received.map((asset) => this.hand(asset, caller, trade.signer))
    const hash = hashOfHex(trade.signature)
    const start = [addressWord(caller), hash]
    const topics =
      this.version === 3
        ? [TOPIC.tradedWithDigest, ...start, digestOf(trade, this.address)]
        : [TOPIC.traded, ...start]
    this.log(topics, tradeArgument(trade, sent, received))
  }

  /** Everybody may log this for every signature; it counts only for trades that the caller has signed. */
  cancel(caller: Address, key: Word): void {
    require(this.machine.isSince(this.firstBlock), 'not deployed yet')
    this.cancelled.set(pairKey(caller, key), true)
    this.log([TOPIC.signatureCancelled, addressWord(caller), key])
  }

  raiseSignerIndex(caller: Address): void {
    require(this.machine.isSince(this.firstBlock), 'not deployed yet')
    const index = this.signerIndex(caller) + 1
    this.indexes.set(caller, index)
    this.log([TOPIC.signerSignatureIndexIncreased, addressWord(caller), numberWord(index)])
  }

  raiseContractIndex(caller: Address): void {
    require(caller === this.owner && this.machine.isSince(this.firstBlock), 'not authorized')
    const index = this.contractIndex() + 1
    this.indexes.set(CONTRACT_INDEX, index)
    this.log([TOPIC.contractSignatureIndexIncreased, addressWord(caller), numberWord(index)])
  }

  isPaused(at?: number): boolean {
    return this.paused.get(PAUSED, at) ?? false
  }

  pause(caller: Address, isPaused: boolean): void {
    require(caller === this.owner && this.machine.isSince(this.firstBlock), 'not authorized')
    this.paused.set(PAUSED, isPaused)
    this.log([isPaused ? TOPIC.paused : TOPIC.unpaused], address(caller))
  }

  private checkTrade(trade: Trade): void {
    const { timeS } = this.machine
    require(!this.isPaused(), 'the marketplace is paused')
    const key = pairKey(trade.signer, this.signatureKey(trade))
    require(this.machine.isSince(this.firstBlock), 'not deployed yet')
    require(this.cancelled.get(key) === undefined, 'the signature is cancelled')
    require(trade.uses === 0 || (this.uses.get(key) ?? 0) < trade.uses, 'the signature is used up')
    require(trade.contractIndex === this.contractIndex(), 'the index of the contract was raised')
    require(trade.signerIndex === this.signerIndex(trade.signer), 'the index of the signer was raised')
    require(trade.expirationS >= timeS && trade.effectiveS <= timeS, 'expired, or not effective yet')
  }

  /** Hands over one asset. @returns it as it is logged: with the beneficiary that got it */
  private hand(asset: TradedAsset, from: Address, other: Address): TradedAsset {
    const { contract, value } = asset
    const beneficiary = asset.beneficiary === ZERO_ADDRESS ? other : asset.beneficiary
    if (asset.assetType !== ASSET_TYPE.token) {
      if (!isCurrency(contract)) throw new Revert('not a currency')
      contract.transfer(from, beneficiary, BigInt(value))
    } else {
      if (isCurrency(contract)) throw new Revert('not a token')
      require(contract.verifyFingerprint?.(value, asset.extra) ?? true, 'the fingerprint is another one')
      require(contract.ownerOf(value) === from, 'not the owner')
      contract.transferFrom(this.address, from, beneficiary, value)
    }
    return { ...asset, beneficiary }
  }
}

function isCurrency(contract: TokenContract | Currency): contract is Currency {
  return !('ownerOf' in contract)
}

function tradeArgument(
  trade: Trade,
  sent: readonly TradedAsset[],
  received: readonly TradedAsset[],
): Argument {
  const checks = tuple(
    ...[uint(trade.uses), uint(trade.expirationS), uint(trade.effectiveS), bytes32(trade.salt)],
    ...[uint(trade.contractIndex), uint(trade.signerIndex), bytes32(NO_ROOT)],
    ...[array([]), array(trade.externalChecks.map(checkArgument))],
  )
  return tuple(
    ...[address(trade.signer), bytes(bytesOf(trade.signature)), checks],
    ...[array(sent.map(assetArgument)), array(received.map(assetArgument))],
  )
}

function assetArgument({ assetType, contract, value, beneficiary, extra }: TradedAsset): Argument {
  return tuple(
    ...[uint(assetType), address(contract.address), bytes32(value), address(beneficiary)],
    bytes(bytesOf(extra)),
  )
}

function checkArgument({ contract, selector, value, isRequired }: ExternalCheck): Argument {
  return tuple(address(contract), bytes4(selector), bytes(bytesOf(value)), bool(isRequired))
}

/** A hash that stands for the signed message: signatures are not checked here. */
function digestOf({ signature, salt }: Trade, contract: Address): Word {
  return hashOfParts(contract, salt, signature)
}
