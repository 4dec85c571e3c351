import type { ContractRole } from '../chain-types.ts'
import {
  address,
  arrayOf,
  bool,
  bytes,
  bytes4,
  bytes32,
  int256,
  type NamedTypes,
  string,
  struct,
  uint256,
  type ValuesOf,
  type WordType,
} from './abi-types.ts'

type TopicTypes = Readonly<Record<string, WordType<unknown>>>

/** How an event stands in a log. */
export interface Layout<Topics extends TopicTypes = TopicTypes, Data extends NamedTypes = NamedTypes> {
  /** As the compiler writes it. */
  readonly signature: string
  /** Keccak-256 of the signature. */
  readonly topic0: string
  /** The indexed arguments: the topics after the first, in their order. */
  readonly topics: Topics
  /** The other arguments, in their order. */
  readonly data: Data
}

function layout<Topics extends TopicTypes, Data extends NamedTypes>(
  signature: string,
  topic0: string,
  { topics, data }: { readonly topics: Topics; readonly data: Data },
): Layout<Topics, Data> {
  return { signature, topic0, topics, data }
}

const NONE = {} as const

const TRADED_ASSET = struct({
  assetType: uint256,
  contractAddress: address,
  value: uint256,
  beneficiary: address,
  extra: bytes,
})

const TRADE = struct({
  signer: address,
  signature: bytes,
  checks: struct({
    uses: uint256,
    expiration: uint256,
    effective: uint256,
    salt: bytes32,
    contractSignatureIndex: uint256,
    signerSignatureIndex: uint256,
    allowedRoot: bytes32,
    allowedProof: arrayOf(bytes32),
    externalChecks: arrayOf(
      struct({ contractAddress: address, selector: bytes4, value: bytes, required: bool }),
    ),
  }),
  sent: arrayOf(TRADED_ASSET),
  received: arrayOf(TRADED_ASSET),
})

/**
 * The events that change something that we store. Where several contracts have an event, the names of its arguments are
 * those of one of them.
 */
export const LAYOUTS = {
  TransferWithOperatorData: layout(
    'Transfer(address,address,uint256,address,bytes,bytes)',
    '0x8988d59efc2c4547ef86c88f6543963bab0cea94f8e486e619c7c3a790db93be',
    {
      topics: { from: address, to: address, assetId: uint256 },
      data: { operator: address, userData: bytes, operatorData: bytes },
    },
  ),
  TransferWithUserData: layout(
    'Transfer(address,address,uint256,address,bytes)',
    '0xd5c97f2e041b2046be3b4337472f05720760a198f4d7d84980b7155eec7cca6f',
    {
      topics: { from: address, to: address, assetId: uint256 },
      data: { operator: address, userData: bytes },
    },
  ),
  Transfer: layout(
    'Transfer(address,address,uint256)',
    '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
    { topics: { from: address, to: address, assetId: uint256 }, data: NONE },
  ),
  /** A transfer of a loan: the number is not indexed. */
  LoanTransfer: layout(
    'Transfer(address,address,uint256)',
    '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
    { topics: { from: address, to: address }, data: { loanId: uint256 } },
  ),
  Update: layout(
    'Update(uint256,address,address,string)',
    '0x47c705b9219229ad762fca605f08fb024a3415d0ae78af5d319820c72e510414',
    { topics: { assetId: uint256, holder: address, operator: address }, data: { text: string } },
  ),
  Approve: layout(
    'Approve(address,address,uint256)',
    '0x6e11fb1b7f119e3f2fa29896ef5fdf8b8a2d0d4df6fe90ba8668e7d8b2ffa25e',
    { topics: { owner: address, operator: address, assetId: uint256 }, data: NONE },
  ),
  Approval: layout(
    'Approval(address,address,uint256)',
    '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925',
    { topics: { owner: address, operator: address, assetId: uint256 }, data: NONE },
  ),
  AuthorizeOperator: layout(
    'AuthorizeOperator(address,address,bool)',
    '0xfe1dcbb12493a4af760875b0c328b264e6397b8bd47cdc249df0444b4daf1cbc',
    { topics: { operator: address, holder: address }, data: { isAuthorized: bool } },
  ),
  /** LAND changed the order of the two addresses; Estate has always named the holder first. */
  ApprovalForAll: layout(
    'ApprovalForAll(address,address,bool)',
    '0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31',
    { topics: { first: address, second: address }, data: { isAuthorized: bool } },
  ),
  UpdateOperator: layout(
    'UpdateOperator(uint256,address)',
    '0x9d9dd80a56a16f715df6eb40b771e24ff8cbea6eed9de28473ce0f28fe5602a9',
    { topics: { assetId: uint256, operator: address }, data: NONE },
  ),
  UpdateManager: layout(
    'UpdateManager(address,address,address,bool)',
    '0xd79fbfe1644c022b9150727d871532bfcc3e27ffee86fc596a062770ac97b042',
    { topics: { owner: address, operator: address, caller: address }, data: { isApproved: bool } },
  ),
  CreateEstate: layout(
    'CreateEstate(address,uint256,string)',
    '0xd66691e9db811aef0bc0900328bd314b23f1f2285d5cb6d4baa4d959b3645a3c',
    { topics: { owner: address, estateId: uint256 }, data: { text: string } },
  ),
  AddLand: layout(
    'AddLand(uint256,uint256)',
    '0xff0e52667d53255667dc777a00af81038a4646367b0d73d8ee8540ca5b0c9a2e',
    { topics: { estateId: uint256, landId: uint256 }, data: NONE },
  ),
  RemoveLand: layout(
    'RemoveLand(uint256,uint256,address)',
    '0x7932eb5ab0d4d4d172776074ee15d13d708465ff5476902ed15a4965434fcab1',
    { topics: { estateId: uint256, landId: uint256, destinatary: address }, data: NONE },
  ),
  AuctionCreated: layout(
    'AuctionCreated(bytes32,uint256,address,uint256,uint256)',
    '0x9493ae82b9872af74473effb9d302efba34e0df360a99cc5e577cd3f28e3cab2',
    {
      topics: { assetId: uint256, seller: address },
      data: { id: bytes32, priceInWei: uint256, expiresAt: uint256 },
    },
  ),
  AuctionSuccessful: layout(
    'AuctionSuccessful(bytes32,uint256,address,uint256,address)',
    '0xedcc7e1c269bc295dc24e74dc46b129c8449e6b0544af73b57c4201b78d119db',
    {
      topics: { assetId: uint256, seller: address, winner: address },
      data: { id: bytes32, totalPrice: uint256 },
    },
  ),
  AuctionCancelled: layout(
    'AuctionCancelled(bytes32,uint256,address)',
    '0x88bd2ba46f3dc2567144331c35bd4c5ced3d547d8828638a152ddd9591c137a6',
    { topics: { assetId: uint256, seller: address }, data: { id: bytes32 } },
  ),
  OrderCreated: layout(
    'OrderCreated(bytes32,uint256,address,address,uint256,uint256)',
    '0x84c66c3f7ba4b390e20e8e8233e2a516f3ce34a72749e4f12bd010dfba238039',
    {
      topics: { assetId: uint256, seller: address },
      data: { id: bytes32, nftAddress: address, priceInWei: uint256, expiresAt: uint256 },
    },
  ),
  OrderSuccessful: layout(
    'OrderSuccessful(bytes32,uint256,address,address,uint256,address)',
    '0x695ec315e8a642a74d450a4505eeea53df699b47a7378c7d752e97d5b16eb9bb',
    {
      topics: { assetId: uint256, seller: address, buyer: address },
      data: { id: bytes32, nftAddress: address, totalPrice: uint256 },
    },
  ),
  OrderCancelled: layout(
    'OrderCancelled(bytes32,uint256,address,address)',
    '0x0325426328de5b91ae4ad8462ad4076de4bcaf4551e81556185cacde5a425c6b',
    { topics: { assetId: uint256, seller: address }, data: { id: bytes32, nftAddress: address } },
  ),
  BidCreated: layout(
    'BidCreated(bytes32,address,uint256,address,uint256,uint256,bytes)',
    '0xe45b7709f1eed66d6e28f43b32f2003da0f0c40b92f75a8994370516e048620f',
    {
      topics: { tokenAddress: address, tokenId: uint256, bidder: address },
      data: { id: bytes32, price: uint256, expiresAt: uint256, fingerprint: bytes },
    },
  ),
  BidAccepted: layout(
    'BidAccepted(bytes32,address,uint256,address,address,uint256,uint256)',
    '0x4e5ca6c6c06fa8d62f2930830e0d370de70f108bd89213de0b51141775e695bd',
    {
      topics: { tokenAddress: address, tokenId: uint256, seller: address },
      data: { id: bytes32, bidder: address, price: uint256, fee: uint256 },
    },
  ),
  BidCancelled: layout(
    'BidCancelled(bytes32,address,uint256,address)',
    '0xc43098075c34b8b92567bd49f08f55e397ebf82dd82072e3eb1be525c4506f5f',
    { topics: { tokenAddress: address, tokenId: uint256, bidder: address }, data: { id: bytes32 } },
  ),
  /** A bid of the second auction of parcels, not of the contract for bids. */
  BidSuccessful: layout(
    'BidSuccessful(uint256,address,address,uint256,uint256,int256[],int256[])',
    '0x640767916efcb255d42962e81c56c9956eaea049461f5c05f5444a8be0b7e896',
    {
      topics: { beneficiary: address, token: address },
      data: {
        bidId: uint256,
        pricePerLandInMana: uint256,
        manaAmountToBurn: uint256,
        xs: arrayOf(int256),
        ys: arrayOf(int256),
      },
    },
  ),
  RequestedMortgage: layout(
    'RequestedMortgage(uint256,address,address,uint256,address,uint256,uint256,address)',
    '0xcdfb7eb140e1a32dca25d609225865f633cdfda19c5349f0a787d8f2ca2b03f0',
    {
      topics: NONE,
      data: {
        id: uint256,
        borrower: address,
        engine: address,
        loanId: uint256,
        landMarket: address,
        landId: uint256,
        deposit: uint256,
        tokenConverter: address,
      },
    },
  ),
  StartedMortgage: layout(
    'StartedMortgage(uint256)',
    '0x3f43c119884272ee56ba6642382c2e11c6878aead495d002bb27e983a3810820',
    { topics: NONE, data: { id: uint256 } },
  ),
  CanceledMortgage: layout(
    'CanceledMortgage(address,uint256)',
    '0xe3240325d9adca17221bac5d9b86bb55390496f9c7301c6739a99466b8016e2b',
    { topics: NONE, data: { from: address, id: uint256 } },
  ),
  PaidMortgage: layout(
    'PaidMortgage(address,uint256)',
    '0xb6b76e79cb261a5cd7bd16f99ae700412aed574c312f971db86f542f4499fa4a',
    { topics: NONE, data: { from: address, id: uint256 } },
  ),
  DefaultedMortgage: layout(
    'DefaultedMortgage(uint256)',
    '0xfaa43e1f1424d89711fdebe8b1d3b71725eade528d54b38d979253058d304b44',
    { topics: NONE, data: { id: uint256 } },
  ),
  Lent: layout(
    'Lent(uint256,address,address)',
    '0x53958e56be540a79b63f3a5a70f53dfaa6d8a43ddd3f8217209b45ded1cfc1ce',
    { topics: NONE, data: { loanId: uint256, lender: address, cosigner: address } },
  ),
  PartialPayment: layout(
    'PartialPayment(uint256,address,address,uint256)',
    '0x208972b4933bf2f7f9bb4c3c61cd484970eb0babe7539d22a18ab1d80fa7bec6',
    { topics: NONE, data: { loanId: uint256, sender: address, from: address, amount: uint256 } },
  ),
  TotalPayment: layout(
    'TotalPayment(uint256)',
    '0x45bbf9b5373297284296c5c84c733f3e536eb719e3fe3ee1771900622621cfb7',
    { topics: NONE, data: { loanId: uint256 } },
  ),
  DestroyedBy: layout(
    'DestroyedBy(uint256,address)',
    '0x5e81ba96d90c4ed224a3379b681aa7910d3832eabf32b38d8fffdfb58b3ed962',
    { topics: NONE, data: { loanId: uint256, by: address } },
  ),
  Traded: layout(
    `Traded(address,bytes32,${TRADE.name})`,
    '0xaaecdfa7e74e704650fcb273f630f42f68974eff42bfffc1732cf30db9e4685b',
    { topics: { caller: address, signatureHash: bytes32 }, data: { trade: TRADE } },
  ),
  TradedWithDigest: layout(
    `Traded(address,bytes32,bytes32,${TRADE.name})`,
    '0x71dc7036c75ab7570a8b79d4a452c5a4d3ac4fdf0b2cc58d518d979f0ec557ff',
    { topics: { caller: address, signatureHash: bytes32, tradeDigest: bytes32 }, data: { trade: TRADE } },
  ),
  SignatureCancelled: layout(
    'SignatureCancelled(address,bytes32)',
    '0x8c4e82d0c2e3a462d0450cd1797aef55b85987a833dd3d93b61d96824a01410e',
    { topics: { caller: address, key: bytes32 }, data: NONE },
  ),
  ContractSignatureIndexIncreased: layout(
    'ContractSignatureIndexIncreased(address,uint256)',
    '0x09cc1ddfeaa3955efcd7527dadf166c8dd69e1e1ac87e52919eb59da0b42ee19',
    { topics: { caller: address, newValue: uint256 }, data: NONE },
  ),
  SignerSignatureIndexIncreased: layout(
    'SignerSignatureIndexIncreased(address,uint256)',
    '0x492ddec6f62ab9180c9800a9a60ec15bb0dbae20d2a19cdc824448872f796667',
    { topics: { caller: address, newValue: uint256 }, data: NONE },
  ),
  Paused: layout('Paused(address)', '0x62e78cea01bee320cd4e420270b5ea74000d11b0c9f74754ebdbfc544b05a258', {
    topics: NONE,
    data: { by: address },
  }),
  Unpaused: layout(
    'Unpaused(address)',
    '0x5db9ee0a495bf2e6ff9c91a7834c1ba4fdd244a5e8aa4e537bd38aeae4b073aa',
    {
      topics: NONE,
      data: { by: address },
    },
  ),
  AssetRented: layout(
    'AssetRented(address,uint256,address,address,address,uint256,uint256,bool,address,bytes)',
    '0xfe3b2e4cd1e8ad8d90abfd715fe3d39a303e0a6e9adde116d5d10bebfa678d80',
    {
      topics: { contract: address, tokenId: uint256 },
      data: {
        lessor: address,
        tenant: address,
        operator: address,
        rentalDays: uint256,
        pricePerDay: uint256,
        isExtension: bool,
        sender: address,
        signature: bytes,
      },
    },
  ),
  AssetClaimed: layout(
    'AssetClaimed(address,uint256,address)',
    '0x64fcb03e7c10d3b0ae8a1bac00b1e9e9cdf6b593ef0e757797d21977f80183a4',
    { topics: { contract: address, tokenId: uint256 }, data: { sender: address } },
  ),
  AssetIndexUpdated: layout(
    'AssetIndexUpdated(address,address,uint256,uint256,address)',
    '0x03b0084eb3c564c3928723736eeb4c38263fdce62f06c45eaa69df01c0415148',
    {
      topics: { signer: address, contract: address, tokenId: uint256 },
      data: { newIndex: uint256, sender: address },
    },
  ),
  SignerIndexUpdated: layout(
    'SignerIndexUpdated(address,uint256,address)',
    '0xbcdee0760cae1a36f3773c7f12f98aa0afbafa4099c256eeb87d796f2afb7d44',
    { topics: { signer: address }, data: { newIndex: uint256, sender: address } },
  ),
  ContractIndexUpdated: layout(
    'ContractIndexUpdated(uint256,address)',
    '0xa6957d63c6c422962352065c3196f36c268eda93a702712ccf4c3d810da755b3',
    { topics: NONE, data: { newIndex: uint256, sender: address } },
  ),
} as const

export type EventName = keyof typeof LAYOUTS

type FieldsIn<L> = L extends Layout<infer Topics, infer Data> ? ValuesOf<Topics> & ValuesOf<Data> : never

/** The arguments of an event. */
export type EventFields<Name extends EventName> = FieldsIn<(typeof LAYOUTS)[Name]>

const OFF_CHAIN_EVENTS = [
  'SignatureCancelled',
  'ContractSignatureIndexIncreased',
  'SignerSignatureIndexIncreased',
  'Paused',
  'Unpaused',
] as const

/**
 * The events of each contract. The same first topic can be another event on another contract: Transfer of LAND has the
 * number of the token in a topic, Transfer of loans in the data. A contract whose list is empty says nothing new:
 *
 * - MANAToken: who has how much money is no part of the land.
 * - MortgageHelper: its NewMortgage repeats RequestedMortgage of MortgageManager, which is also logged when a mortgage is
 *   requested without the helper.
 *
 * Auction events of the current marketplace are missing here on purpose: it repeats its own Order events with them.
 */
export const EVENTS_OF_ROLE: { readonly [Role in ContractRole]: readonly EventName[] } = {
  LANDRegistry: [
    'TransferWithOperatorData',
    'TransferWithUserData',
    'Transfer',
    'Update',
    'Approve',
    'Approval',
    'AuthorizeOperator',
    'ApprovalForAll',
    'UpdateOperator',
    'UpdateManager',
  ],
  EstateRegistry: [
    'Transfer',
    'Update',
    'Approval',
    'ApprovalForAll',
    'UpdateOperator',
    'UpdateManager',
    'CreateEstate',
    'AddLand',
    'RemoveLand',
  ],
  Marketplace: ['OrderCreated', 'OrderSuccessful', 'OrderCancelled'],
  LegacyMarketplace: ['AuctionCreated', 'AuctionSuccessful', 'AuctionCancelled'],
  ERC721Bid: ['BidCreated', 'BidAccepted', 'BidCancelled'],
  LANDAuction: ['BidSuccessful'],
  MortgageManager: [
    'RequestedMortgage',
    'StartedMortgage',
    'CanceledMortgage',
    'PaidMortgage',
    'DefaultedMortgage',
  ],
  MortgageHelper: [],
  RCNEngine: ['LoanTransfer', 'Lent', 'PartialPayment', 'TotalPayment', 'DestroyedBy'],
  MANAToken: [],
  OffChainMarketplace: ['Traded', ...OFF_CHAIN_EVENTS],
  OffChainMarketplaceV2: ['Traded', ...OFF_CHAIN_EVENTS],
  OffChainMarketplaceV3: ['TradedWithDigest', ...OFF_CHAIN_EVENTS],
  Rentals: [
    'AssetRented',
    'AssetClaimed',
    'AssetIndexUpdated',
    'SignerIndexUpdated',
    'ContractIndexUpdated',
    'Paused',
    'Unpaused',
  ],
}
