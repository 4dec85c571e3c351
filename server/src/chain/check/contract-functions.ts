import { keccak256 } from '../../ethereum/keccak256.ts'
import { word } from '../../ethereum/words.ts'
import {
  type AbiType,
  address,
  bool,
  bytes32,
  headBytesOf,
  type NamedTypes,
  readStruct,
  string,
  uint256,
  type ValuesOf,
} from '../logs/abi-types.ts'
import { LogData, UnfitLogError } from '../logs/log-data.ts'

/** A number or an address. Negative numbers are in two's complement. */
export type Argument = bigint | string

/** A function of a contract that only reads: how it is called, and what it returns. */
export interface ContractFunction<Returned> {
  readonly signature: string
  /** The data of a call. */
  encode(...values: readonly Argument[]): string
  /** Undefined where the data are not what the function returns, such as those of an address without a contract. */
  decode(returned: string): Returned | undefined
}

/**
 * The functions with which tables are compared (chain-facts, sections 4 to 10). The same name may stand for the functions of
 * several contracts, where their arguments and answers are the same.
 */
export const FUNCTIONS = {
  // The registries
  ownerOf: one('ownerOf(uint256)', address),
  getApproved: one('getApproved(uint256)', address),
  updateOperator: one('updateOperator(uint256)', address),
  isApprovedForAll: one('isApprovedForAll(address,address)', bool),
  updateManager: one('updateManager(address,address)', bool),
  totalSupply: one('totalSupply()', uint256),
  landData: one('landData(int256,int256)', string),
  getMetadata: one('getMetadata(uint256)', string),
  getLandEstateId: one('getLandEstateId(uint256)', uint256),
  getEstateSize: one('getEstateSize(uint256)', uint256),
  estateLandIds: one('estateLandIds(uint256,uint256)', uint256),
  getFingerprint: one('getFingerprint(uint256)', bytes32),
  getFingerprintV2: one('getFingerprintV2(uint256)', bytes32),
  // The marketplaces
  orderByAssetId: several('orderByAssetId(address,uint256)', {
    id: bytes32,
    seller: address,
    nftAddress: address,
    priceWei: uint256,
    expiresAt: uint256,
  }),
  auctionByAssetId: several('auctionByAssetId(uint256)', {
    id: bytes32,
    seller: address,
    priceWei: uint256,
    expiresAt: uint256,
  }),
  // Those of offers that are signed off the chain; the first one is of the contract of rents, too
  paused: one('paused()', bool),
  contractSignatureIndex: one('contractSignatureIndex()', uint256),
  signerSignatureIndex: one('signerSignatureIndex(address)', uint256),
  signatureUses: one('signatureUses(bytes32)', uint256),
  cancelledSignatures: one('cancelledSignatures(bytes32)', bool),
  // The contract of bids
  bidCounterByToken: one('bidCounterByToken(address,uint256)', uint256),
  getBidByToken: several('getBidByToken(address,uint256,uint256)', {
    id: bytes32,
    bidder: address,
    priceWei: uint256,
    expiresAtS: uint256,
  }),
  // Mortgages, and the engine of their loans
  mortgages: several('mortgages(uint256)', {
    landMarket: address,
    owner: address,
    engine: address,
    loanId: uint256,
    deposit: uint256,
    landId: uint256,
    landCost: uint256,
    status: uint256,
    tokenConverter: address,
  }),
  getStatus: one('getStatus(uint256)', uint256),
  getPaid: one('getPaid(uint256)', uint256),
  getDueTime: one('getDueTime(uint256)', uint256),
  getAmount: one('getAmount(uint256)', uint256),
  getInterestRate: one('getInterestRate(uint256)', uint256),
  getInterestRatePunitory: one('getInterestRatePunitory(uint256)', uint256),
  getDuesIn: one('getDuesIn(uint256)', uint256),
  getCancelableAt: one('getCancelableAt(uint256)', uint256),
  getExpirationRequest: one('getExpirationRequest(uint256)', uint256),
  // Rents
  getContractIndex: one('getContractIndex()', uint256),
  getSignerIndex: one('getSignerIndex(address)', uint256),
  getAssetIndex: one('getAssetIndex(address,uint256,address)', uint256),
  getRental: several('getRental(address,uint256)', { lessor: address, tenant: address, endS: uint256 }),
} as const

function one<Value>(signature: string, type: AbiType<Value>): ContractFunction<Value> {
  const { encode, decode } = several(signature, { value: type })
  return { signature, encode, decode: (returned) => decode(returned)?.value }
}

function several<Types extends NamedTypes>(
  signature: string,
  types: Types,
): ContractFunction<ValuesOf<Types>> {
  const selector = Buffer.from(keccak256(Buffer.from(signature))).toString('hex', 0, 4)
  const leastLength = 2 + 2 * headBytesOf(types)
  return {
    signature,
    encode: (...values) => `0x${selector}${values.map(word).join('')}`,
    decode(returned) {
      if (returned.length < leastLength) return undefined
      try {
        return readStruct(types, new LogData(returned), 0)
      } catch (error) {
        if (error instanceof UnfitLogError) return undefined
        throw error
      }
    },
  }
}
