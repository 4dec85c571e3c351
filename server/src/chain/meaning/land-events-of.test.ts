import { CONTRACT_LIMIT, encodeTokenId } from '@landpass/client/grid'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type AbiValue, encodeAbi, topicOf } from '../../../test/support/chain/abi-encoder.ts'
import {
  ALICE,
  BOB,
  CAROL,
  DAVE,
  ERIN,
  EXAMPLE_LOGS,
  EXAMPLE_NETWORK,
  FRANK,
  LENDER,
  NOBODY,
  rawLog,
} from '../../../test/support/chain/chain-examples.ts'
import type { LandFact } from '../../land/events/land-event.ts'
import type { ContractRole, Network } from '../chain-types.ts'
import { type EventName, LAYOUTS, type Layout } from '../logs/layouts.ts'
import { landEventsOf } from './land-events-of.ts'

const OTHER_TOKEN = `0x${'77'.repeat(20)}`
const { contracts } = EXAMPLE_NETWORK
const LAND = contracts.LANDRegistry.address
const ESTATE = contracts.EstateRegistry!.address
const MANA = contracts.MANAToken!.address
const LEGACY = contracts.LegacyMarketplace!.address
const MARKET = contracts.Marketplace!.address
const BIDS = contracts.ERC721Bid!.address

const WEI = 10n ** 18n
/** 2100-01-01, in milliseconds, as the web application sends it. */
const EXPIRES = 4_102_444_800_000n
const ID = `0x${'1d'.repeat(32)}`
const LIST_ID = '0x9b1372723fcf4330ee910cdd68e9cd90b8087dda9b5ae6670e1f384402829b3d'
const CANCELLED_LIST_ID = '0xbea46cffa5691b4aa33e73a98a21450d088fa28264676724c286acfbcc11de10'
const ORDER_ID = '0xc679d05fc00250854fce8e80a9b87d5cf489192a964dbdc8bd7c7471894c7bf0'
const CANCELLED_ORDER_ID = '0xe42ad14d745381a87cfa3310668c2e6ffb46b4aa6ff160624644573616e02b24'
const BID_ID = '0xb8b8e06b9e094ba9902a8dd9830030bc2e9d7663507405da39b5017540ff4c21'
const CANCELLED_BID_ID = '0x689d849dabb202ff186a5c0568bc877c913a984491840b2945af418e14138d35'
/** 35,277.777777777778 MANA. */
const AUCTION_PRICE = 35_277_777_777_777_778_000_000n

const parcel = (id: string) => ({ type: 'parcel', id }) as const
const estate = (id: string) => ({ type: 'estate', id }) as const
const text = (value: string): Uint8Array => Buffer.from(value)

/** What the recorded logs mean, by their position in the file. All others mean nothing. */
// biome-ignore format: one line for each log
const MEANT_BY_HAND: Readonly<Record<number, LandFact>> = {
  1: { kind: 'asset-transferred', asset: parcel('-3,0'), from: null, to: ALICE },
  2: { kind: 'asset-described', asset: parcel('0,0'), text: text('0,Alice HQ,First plot,ipns:QmAliceHQ') },
  3: { kind: 'approval-for-all-set', registry: 'parcel', owner: ALICE, operator: FRANK, isApproved: true },
  4: { kind: 'operator-set', asset: parcel('-3,2'), operator: FRANK },
  8: { kind: 'approval-for-all-set', registry: 'parcel', owner: ALICE, operator: LEGACY, isApproved: true },
  9: { kind: 'asset-transferred', asset: parcel('-150,-150'), from: null, to: BOB },
  10: { kind: 'listing-opened', asset: parcel('0,0'), marketplace: LEGACY, contractId: LIST_ID, seller: ALICE, priceWei: 1_000n * WEI, expiresAt: EXPIRES },
  12: { kind: 'listing-sold', asset: parcel('0,0'), marketplace: LEGACY, contractId: LIST_ID, seller: ALICE, buyer: BOB, priceWei: 1_000n * WEI },
  13: { kind: 'listing-cancelled', asset: parcel('1,0'), marketplace: LEGACY, contractId: CANCELLED_LIST_ID },
  14: { kind: 'operator-set', asset: parcel('-1,1'), operator: FRANK },
  15: { kind: 'update-operator-set', asset: parcel('-1,0'), operator: FRANK },
  18: { kind: 'asset-transferred', asset: parcel('5,20'), from: null, to: ALICE },
  19: { kind: 'asset-transferred', asset: estate('1'), from: null, to: ALICE },
  20: { kind: 'estate-created', estateId: '1', owner: ALICE, text: text('0,"Alice, Estate",first estate,') },
  21: { kind: 'parcel-joined-estate', estateId: '1', parcel: { x: 5, y: 20 } },
  22: { kind: 'parcel-left-estate', estateId: '1', parcel: { x: 5, y: 21 } },
  23: { kind: 'asset-described', asset: estate('1'), text: text('0,Alice Estate v2,"multi\nline, text",ipns:QmEstate1') },
  24: { kind: 'operator-set', asset: estate('1'), operator: FRANK },
  25: { kind: 'update-operator-set', asset: estate('1'), operator: FRANK },
  26: { kind: 'approval-for-all-set', registry: 'estate', owner: ALICE, operator: FRANK, isApproved: true },
  29: { kind: 'listing-opened', asset: parcel('1,0'), marketplace: MARKET, contractId: ORDER_ID, seller: ALICE, priceWei: 2_000n * WEI, expiresAt: EXPIRES },
  30: { kind: 'listing-sold', asset: parcel('1,0'), marketplace: MARKET, contractId: ORDER_ID, seller: ALICE, buyer: DAVE, priceWei: 2_000n * WEI },
  32: { kind: 'listing-cancelled', asset: parcel('10,10'), marketplace: MARKET, contractId: CANCELLED_ORDER_ID },
  51: { kind: 'mortgage-requested', mortgageId: 1n, loanId: 1n, borrower: ERIN, parcel: { x: 7, y: 21 } },
  53: { kind: 'mortgage-cancelled', mortgageId: 3n },
  54: { kind: 'loan-transferred', loanId: 1n, to: LENDER },
  57: { kind: 'mortgage-started', mortgageId: 1n },
  58: { kind: 'loan-lent', loanId: 1n, lender: LENDER },
  59: { kind: 'loan-partly-paid', loanId: 1n, amountWei: 300n * WEI },
  60: { kind: 'loan-paid', loanId: 1n },
  61: { kind: 'mortgage-claimed', mortgageId: 1n },
  62: { kind: 'loan-pardoned', loanId: 4n },
  63: { kind: 'mortgage-defaulted', mortgageId: 2n },
  72: { kind: 'parcels-auctioned', parcels: [{ x: 20, y: 30 }, { x: 21, y: 30 }, { x: 22, y: 30 }], buyer: CAROL, priceWei: AUCTION_PRICE },
  73: { kind: 'update-manager-set', registry: 'parcel', owner: ALICE, operator: FRANK, isApproved: true },
  74: { kind: 'update-manager-set', registry: 'estate', owner: ALICE, operator: FRANK, isApproved: true },
  81: { kind: 'bid-placed', asset: parcel('31,40'), contract: BIDS, bidId: BID_ID, bidder: BOB, tokenAddress: LAND, tokenId: String(encodeTokenId({ x: 31, y: 40 })), priceWei: 100n * WEI, expiresAtS: 1_553_782_028n, fingerprint: '0x' },
  82: { kind: 'bid-cancelled', asset: parcel('31,40'), contract: BIDS, bidId: CANCELLED_BID_ID, bidder: CAROL },
  83: { kind: 'bid-accepted', asset: parcel('31,40'), contract: BIDS, bidId: BID_ID, bidder: BOB, seller: ALICE, priceWei: 100n * WEI },
}

test.each(EXAMPLE_LOGS.map((example, index) => ({ ...example, index })))(
  'log $index means what its transaction says: $contract, $transaction',
  ({ log, timeMs, index }) => {
    const fact = MEANT_BY_HAND[index]
    const { blockNumber, txHash, logIndex } = log
    const at = { blockNumber, txHash, logIndex, timeMs }

    const meaning = landEventsOf(EXAMPLE_NETWORK, log, timeMs)

    if (fact) expect(meaning).toEqual({ outcome: 'events', events: [{ ...fact, at }] })
    else expect(meaning.outcome).toBe('ignored')
  },
)

/** What a log means, without its place; the outcome where it has no events. */
function factsOf(
  role: ContractRole,
  event: EventName,
  args: readonly AbiValue[],
  { network = EXAMPLE_NETWORK, blockNumber = 1_000 }: { network?: Network; blockNumber?: number } = {},
): readonly LandFact[] | string {
  const layout: Layout = LAYOUTS[event]
  const indexed = Object.values(layout.topics).map(({ name }) => name)
  const data = Object.values(layout.data).map(({ name }) => name)
  const log = rawLog({
    address: network.contracts[role]!.address,
    topics: [layout.topic0, ...indexed.map((type, index) => topicOf(type, args[index]!))],
    data: encodeAbi(data, args.slice(indexed.length)),
    blockNumber,
  })
  const meaning = landEventsOf(network, log, 0)
  if (meaning.outcome !== 'events') return meaning.outcome
  return meaning.events.map(({ at, ...fact }) => fact)
}

describe('tokens', () => {
  test('every parcel within the bounds of the contract is found again by its token id', () => {
    const side = fc.integer({ min: -CONTRACT_LIMIT, max: CONTRACT_LIMIT })
    fc.assert(
      fc.property(side, side, (x, y) => {
        expect(factsOf('LANDRegistry', 'UpdateOperator', [encodeTokenId({ x, y }), FRANK])).toEqual([
          { kind: 'update-operator-set', asset: parcel(`${x},${y}`), operator: FRANK },
        ])
      }),
      { numRuns: 200 },
    )
  })

  test.each([
    ['LANDRegistry', 'UpdateOperator', [2n ** 127n, FRANK]],
    ['LANDRegistry', 'UpdateOperator', [encodeTokenId({ x: CONTRACT_LIMIT + 1, y: 0 }), FRANK]],
    ['EstateRegistry', 'AddLand', [1n, 2n ** 200n]],
    ['EstateRegistry', 'UpdateOperator', [0n, FRANK]],
    ['LANDAuction', 'BidSuccessful', [ALICE, MANA, 0n, WEI, WEI, [1n, 2n], [1n]]],
    ['LANDAuction', 'BidSuccessful', [ALICE, MANA, 0n, WEI, WEI, [2n ** 128n], [1n]]],
    ['LANDAuction', 'BidSuccessful', [ALICE, MANA, 0n, WEI, WEI, [1_000_000n], [1n]]],
  ] as const)(
    'a token that the contracts cannot have makes a log unreadable: %s, %s',
    (role, event, args) => {
      expect(factsOf(role, event, args)).toBe('unreadable')
    },
  )

  test('parcel 0,1 and estate 1 have the same number, and the registry tells which is meant', () => {
    expect(factsOf('LANDRegistry', 'Approval', [ALICE, FRANK, 1n])).toMatchObject([{ asset: parcel('0,1') }])
    expect(factsOf('EstateRegistry', 'Approval', [ALICE, FRANK, 1n])).toMatchObject([{ asset: estate('1') }])
  })

  test('the zero address is nobody', () => {
    expect(factsOf('LANDRegistry', 'Transfer', [ALICE, NOBODY, 0n])).toMatchObject([
      { from: ALICE, to: null },
    ])
    expect(factsOf('LANDRegistry', 'Approval', [ALICE, NOBODY, 0n])).toMatchObject([{ operator: null }])
    expect(factsOf('EstateRegistry', 'UpdateOperator', [1n, NOBODY])).toMatchObject([{ operator: null }])
    expect(factsOf('RCNEngine', 'LoanTransfer', [LENDER, NOBODY, 4n])).toMatchObject([{ to: null }])
  })

  test('a text is kept byte for byte, with NUL and bytes that are not UTF-8', () => {
    const facts = factsOf('LANDRegistry', 'Update', [0n, ALICE, ALICE, '0x302c00fffe'])

    expect(facts).toMatchObject([{ text: Buffer.from('302c00fffe', 'hex') }])
  })
})

describe('rights', () => {
  test('ApprovalForAll of LAND names the operator first up to a block of the network, then the owner', () => {
    const network = { ...EXAMPLE_NETWORK, landApprovalForAllArgumentOrderChangesAtBlock: 5_808_417 }
    const at = (blockNumber: number) =>
      factsOf('LANDRegistry', 'ApprovalForAll', [ALICE, FRANK, true], { network, blockNumber })

    expect(at(5_808_417)).toMatchObject([{ owner: FRANK, operator: ALICE }])
    expect(at(5_808_418)).toMatchObject([{ owner: ALICE, operator: FRANK }])
  })

  test('ApprovalForAll of Estate always names the owner first, AuthorizeOperator of LAND the operator', () => {
    const network = { ...EXAMPLE_NETWORK, landApprovalForAllArgumentOrderChangesAtBlock: 5_808_417 }

    expect(
      factsOf('EstateRegistry', 'ApprovalForAll', [ALICE, FRANK, false], { network, blockNumber: 5 }),
    ).toMatchObject([{ registry: 'estate', owner: ALICE, operator: FRANK, isApproved: false }])
    expect(factsOf('LANDRegistry', 'AuthorizeOperator', [FRANK, ALICE, false])).toMatchObject([
      { registry: 'parcel', owner: ALICE, operator: FRANK, isApproved: false },
    ])
  })

  test('a right of nobody is none', () => {
    expect(factsOf('EstateRegistry', 'ApprovalForAll', [ALICE, NOBODY, true])).toEqual([])
  })
})

describe('marketplaces', () => {
  test('tokens of other contracts mean nothing, whatever their ids', () => {
    const id = 2n ** 255n
    expect(factsOf('Marketplace', 'OrderCreated', [id, ALICE, ID, OTHER_TOKEN, WEI, EXPIRES])).toEqual([])
    expect(factsOf('Marketplace', 'OrderSuccessful', [id, ALICE, BOB, ID, OTHER_TOKEN, WEI])).toEqual([])
    expect(factsOf('Marketplace', 'OrderCancelled', [id, ALICE, ID, OTHER_TOKEN])).toEqual([])
    expect(factsOf('ERC721Bid', 'BidCreated', [OTHER_TOKEN, id, BOB, ID, WEI, 1n, '0x'])).toEqual([])
    expect(factsOf('ERC721Bid', 'BidAccepted', [OTHER_TOKEN, id, ALICE, ID, BOB, WEI, 0n])).toEqual([])
    expect(factsOf('ERC721Bid', 'BidCancelled', [OTHER_TOKEN, id, BOB, ID])).toEqual([])
    expect(
      factsOf('Rentals', 'AssetRented', [OTHER_TOKEN, id, ALICE, BOB, BOB, 1n, WEI, false, BOB, '0x']),
    ).toEqual([])
    expect(factsOf('Rentals', 'AssetClaimed', [OTHER_TOKEN, id, ALICE])).toEqual([])
  })

  test('estates are listed by their number, at prices and deadlines of up to 256 bits', () => {
    const most = 2n ** 256n - 1n

    expect(factsOf('Marketplace', 'OrderCreated', [7n, ALICE, ID, ESTATE, most, most])).toEqual([
      {
        kind: 'listing-opened',
        asset: estate('7'),
        marketplace: MARKET,
        contractId: ID,
        seller: ALICE,
        priceWei: most,
        expiresAt: most,
      },
    ])
  })

  test('a listing that does not exist can be cancelled in the first marketplace, which means nothing', () => {
    expect(factsOf('LegacyMarketplace', 'AuctionCancelled', [1n, NOBODY, `0x${'0'.repeat(64)}`])).toEqual([])
  })

  test('the contents of an estate stand in its bids, and never in those of a parcel', () => {
    const bid = (token: string) => factsOf('ERC721Bid', 'BidCreated', [token, 1n, BOB, ID, WEI, 1n, '0xabcd'])

    expect(bid(ESTATE)).toMatchObject([{ asset: estate('1'), fingerprint: '0xabcd', tokenId: '1' }])
    expect(bid(LAND)).toMatchObject([{ asset: parcel('0,1'), fingerprint: '0x', tokenId: '1' }])
  })
})

describe('mortgages', () => {
  test('a mortgage whose loan is in another contract means nothing: its number is another loan here', () => {
    const requested = (engine: string, network = EXAMPLE_NETWORK) =>
      factsOf('MortgageManager', 'RequestedMortgage', [9n, ERIN, engine, 5n, MARKET, 1n, WEI, NOBODY], {
        network,
      })
    const { RCNEngine, ...others } = contracts

    expect(requested(RCNEngine!.address)).toHaveLength(1)
    expect(requested(OTHER_TOKEN)).toEqual([])
    expect(requested(OTHER_TOKEN, { ...EXAMPLE_NETWORK, contracts: others })).toHaveLength(1)
  })
})

describe('rent', () => {
  test('an asset is rented, longer, and claimed', () => {
    const rented = (days: bigint, isExtension: boolean) =>
      factsOf('Rentals', 'AssetRented', [LAND, 1n, ALICE, BOB, FRANK, days, WEI, isExtension, BOB, '0xabcd'])

    expect(rented(30n, false)).toEqual([
      {
        kind: 'asset-rented',
        asset: parcel('0,1'),
        lessor: ALICE,
        tenant: BOB,
        days: 30,
        isExtension: false,
      },
    ])
    expect(rented(7n, true)).toMatchObject([{ days: 7, isExtension: true }])
    expect(rented(2n ** 255n, false)).toMatchObject([{ days: 365_250 }])
    expect(factsOf('Rentals', 'AssetClaimed', [ESTATE, 3n, ALICE])).toEqual([
      { kind: 'rent-ended', asset: estate('3') },
    ])
  })
})

describe('offers that were signed off the chain', () => {
  const V1 = contracts.OffChainMarketplace!.address
  const V3 = contracts.OffChainMarketplaceV3!.address
  const HASH = `0x${'5a'.repeat(32)}`
  const DIGEST = `0x${'d1'.repeat(32)}`
  /** Alice signed, Bob accepted, and Carol gets what was sent. */
  const land = (x: number, to: string) => [3n, LAND, encodeTokenId({ x, y: 0 }), to, '0x']
  const mana = (wei: bigint, to: string) => [1n, MANA, wei, to, '0x']
  const usd = (wei: bigint, to: string) => [2n, MANA, wei, to, '0x']
  const other = (id: bigint, to: string) => [3n, OTHER_TOKEN, id, to, '0x']
  const trade = (sent: AbiValue, received: AbiValue): AbiValue => [
    ALICE,
    '0xabcd',
    [1n, 2n, 0n, ID, 0n, 0n, ID, [], []],
    sent,
    received,
  ]
  const traded = (sent: AbiValue, received: AbiValue, network = EXAMPLE_NETWORK) =>
    factsOf('OffChainMarketplace', 'Traded', [BOB, HASH, trade(sent, received)], { network })
  const used = { kind: 'signature-used', marketplace: V1, signer: ALICE, signatureKey: HASH }
  const sale = { kind: 'asset-traded', marketplace: V1, contractId: HASH, assets: 1 }

  test('land for MANA is a sale by the signer, to whom the caller named', () => {
    expect(traded([land(1, CAROL)], [mana(5n * WEI, ALICE)])).toEqual([
      { ...sale, asset: parcel('1,0'), seller: ALICE, buyer: CAROL, priceWei: 5n * WEI, offer: 'sale' },
      used,
    ])
  })

  test('MANA for land is a bid of the signer that the caller accepted', () => {
    expect(traded([mana(5n * WEI, BOB)], [land(1, NOBODY)])).toEqual([
      { ...sale, asset: parcel('1,0'), seller: BOB, buyer: ALICE, priceWei: 5n * WEI, offer: 'bid' },
      used,
    ])
  })

  test('a price in dollars is the MANA that was paid for it', () => {
    expect(traded([land(1, CAROL)], [usd(3n * WEI, ALICE), mana(2n * WEI, ALICE)])).toMatchObject([
      { priceWei: 5n * WEI },
      used,
    ])
  })

  test('the price of several assets is one, with the number of assets that it is for', () => {
    expect(traded([land(1, BOB), other(9n, BOB), land(2, BOB)], [mana(6n * WEI, ALICE)])).toMatchObject([
      { asset: parcel('1,0'), priceWei: 6n * WEI, assets: 3 },
      { asset: parcel('2,0'), priceWei: 6n * WEI, assets: 3 },
      used,
    ])
  })

  test('a swap or a gift has no price', () => {
    expect(traded([land(1, BOB)], [other(9n, ALICE)])).toMatchObject([{ priceWei: null }, used])
    expect(traded([land(1, BOB)], [])).toMatchObject([{ priceWei: null }, used])
    expect(traded([land(1, BOB)], [mana(0n, ALICE)])).toMatchObject([{ priceWei: null }, used])
    // The network does not say which contract is MANA.
    const { MANAToken, ...others } = contracts
    const network = { ...EXAMPLE_NETWORK, contracts: others }
    expect(traded([land(1, BOB)], [mana(5n * WEI, ALICE)], network)).toMatchObject([{ priceWei: null }, used])
  })

  test('land on both sides is two sales; MANA on one side is the price of what stands opposite', () => {
    expect(traded([land(1, BOB), mana(5n, BOB)], [land(2, ALICE)])).toMatchObject([
      { asset: parcel('1,0'), seller: ALICE, buyer: BOB, priceWei: null, offer: 'sale' },
      { asset: parcel('2,0'), seller: BOB, buyer: ALICE, priceWei: 5n, offer: 'bid' },
      used,
    ])
    expect(traded([land(1, BOB), mana(5n, BOB)], [land(2, ALICE), mana(9n, ALICE)])).toMatchObject([
      { priceWei: null },
      { priceWei: null },
      used,
    ])
  })

  test('a trade without land means nothing', () => {
    expect(traded([other(1n, BOB)], [mana(5n, ALICE)])).toEqual([])
    // An item of a collection, whose contract has the address of LAND.
    expect(traded([[4n, LAND, 1n, BOB, '0x']], [mana(5n, ALICE)])).toEqual([])
  })

  test('the third version counts uses by the digest, and is named by the hash of the signature', () => {
    const facts = factsOf('OffChainMarketplaceV3', 'TradedWithDigest', [
      BOB,
      HASH,
      DIGEST,
      trade([land(1, BOB)], [mana(5n, ALICE)]),
    ])

    expect(facts).toMatchObject([
      { contractId: HASH, marketplace: V3 },
      { kind: 'signature-used', marketplace: V3, signer: ALICE, signatureKey: DIGEST },
    ])
  })

  test('cancellations and raised indexes are kept with the contract that they are about', () => {
    expect(factsOf('OffChainMarketplaceV3', 'SignatureCancelled', [FRANK, DIGEST])).toEqual([
      { kind: 'signature-cancelled', marketplace: V3, by: FRANK, signatureKey: DIGEST },
    ])
    expect(factsOf('OffChainMarketplace', 'ContractSignatureIndexIncreased', [FRANK, 3n])).toEqual([
      { kind: 'signature-index-raised', marketplace: V1, signer: null, index: 3n },
    ])
    expect(factsOf('OffChainMarketplace', 'SignerSignatureIndexIncreased', [ALICE, 2n])).toEqual([
      { kind: 'signature-index-raised', marketplace: V1, signer: ALICE, index: 2n },
    ])
  })
})
