import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type AbiValue, encodeAbi, partsOf, topicOf } from '../../../test/support/chain/abi-encoder.ts'
import {
  ALICE,
  BOB,
  CAROL,
  DAVE,
  DEPLOYER,
  ERIN,
  EXAMPLE_LOGS,
  EXAMPLE_NETWORK,
  FRANK,
  LENDER,
  NOBODY,
  rawLog,
  SECOND_LENDER,
} from '../../../test/support/chain/chain-examples.ts'
import { CONTRACT_ROLES, type ContractRole, type RawLog } from '../chain-types.ts'
import { decodeLog } from './decode-log.ts'
import { EVENTS_OF_ROLE, type EventName, LAYOUTS, type Layout } from './layouts.ts'

const CONVERTER = '0x0f5d1ef48f12b6f691401bfe88c2037c690a6afe'
const LAND = EXAMPLE_NETWORK.contracts.LANDRegistry.address
const MANAGER = EXAMPLE_NETWORK.contracts.MortgageManager!.address
const MARKET = EXAMPLE_NETWORK.contracts.Marketplace!.address
const ENGINE = EXAMPLE_NETWORK.contracts.RCNEngine!.address
const MANA = EXAMPLE_NETWORK.contracts.MANAToken!.address

const WEI = 10n ** 18n
/** 2100-01-01, in milliseconds, as the web application sends it. */
const EXPIRES = 4_102_444_800_000n
const LIST_ID = '0x9b1372723fcf4330ee910cdd68e9cd90b8087dda9b5ae6670e1f384402829b3d'
const ORDER_ID = '0xc679d05fc00250854fce8e80a9b87d5cf489192a964dbdc8bd7c7471894c7bf0'
const BID_ID = '0xb8b8e06b9e094ba9902a8dd9830030bc2e9d7663507405da39b5017540ff4c21'

/** The token id of a parcel, by the formula of the contract. */
const at = (x: number, y: number): bigint =>
  BigInt.asUintN(256, (BigInt(x) << 128n) | BigInt.asUintN(128, BigInt(y)))
const text = (value: string): Uint8Array => Buffer.from(value)

/**
 * What the transaction of each recorded log says, by its position in the file. The logs that are not here change
 * nothing: upgrades, fees, owners of contracts, MANA, NewMortgage, and the Auction events that the marketplace repeats.
 */
// biome-ignore format: one line for each log
const READ_BY_HAND: Readonly<Record<number, readonly [ContractRole, EventName, object]>> = {
  // mint 12 parcels to alice: the first of them is -3,0
  1: ['LANDRegistry', 'TransferWithOperatorData', { from: NOBODY, to: ALICE, assetId: at(-3, 0), operator: DEPLOYER, userData: '0x', operatorData: '0x' }],
  // data 0,0
  2: ['LANDRegistry', 'Update', { assetId: at(0, 0), holder: ALICE, operator: ALICE, text: text('0,Alice HQ,First plot,ipns:QmAliceHQ') }],
  // AuthorizeOperator frank for alice
  3: ['LANDRegistry', 'AuthorizeOperator', { operator: FRANK, holder: ALICE, isAuthorized: true }],
  // Approve frank for -3,2
  4: ['LANDRegistry', 'Approve', { owner: BOB, operator: FRANK, assetId: at(-3, 2) }],
  // alice ApprovalForAll legacy market (operator,holder order)
  8: ['LANDRegistry', 'ApprovalForAll', { first: '0x8464135c8f25da09e49bc8782676a84730c318bc', second: ALICE, isAuthorized: true }],
  // mint -150,-150
  9: ['LANDRegistry', 'TransferWithUserData', { from: NOBODY, to: BOB, assetId: at(-150, -150), operator: DEPLOYER, userData: '0x' }],
  // legacy list 0,0 at 1000
  10: ['LegacyMarketplace', 'AuctionCreated', { id: LIST_ID, assetId: at(0, 0), seller: ALICE, priceInWei: 1_000n * WEI, expiresAt: EXPIRES }],
  // bob buys 0,0 (legacy)
  12: ['LegacyMarketplace', 'AuctionSuccessful', { id: LIST_ID, assetId: at(0, 0), seller: ALICE, totalPrice: 1_000n * WEI, winner: BOB }],
  // legacy cancel 1,0
  13: ['LegacyMarketplace', 'AuctionCancelled', { id: '0xbea46cffa5691b4aa33e73a98a21450d088fa28264676724c286acfbcc11de10', assetId: at(1, 0), seller: ALICE }],
  // Approval frank -1,1
  14: ['LANDRegistry', 'Approval', { owner: ALICE, operator: FRANK, assetId: at(-1, 1) }],
  // UpdateOperator frank -1,0
  15: ['LANDRegistry', 'UpdateOperator', { assetId: at(-1, 0), operator: FRANK }],
  // mint 9 parcels to alice: the first of them is 5,20
  18: ['LANDRegistry', 'Transfer', { from: NOBODY, to: ALICE, assetId: at(5, 20) }],
  // estate 1 (alice)
  19: ['EstateRegistry', 'Transfer', { from: NOBODY, to: ALICE, assetId: 1n }],
  20: ['EstateRegistry', 'CreateEstate', { owner: ALICE, estateId: 1n, text: text('0,"Alice, Estate",first estate,') }],
  21: ['EstateRegistry', 'AddLand', { estateId: 1n, landId: at(5, 20) }],
  // remove 5,21 from estate 1 to dave
  22: ['EstateRegistry', 'RemoveLand', { estateId: 1n, landId: at(5, 21), destinatary: DAVE }],
  // estate 1 metadata
  23: ['EstateRegistry', 'Update', { assetId: 1n, holder: ALICE, operator: ALICE, text: text('0,Alice Estate v2,"multi\nline, text",ipns:QmEstate1') }],
  // estate 1 Approval frank
  24: ['EstateRegistry', 'Approval', { owner: ALICE, operator: FRANK, assetId: 1n }],
  // estate 1 UpdateOperator frank
  25: ['EstateRegistry', 'UpdateOperator', { assetId: 1n, operator: FRANK }],
  // estate ApprovalForAll alice->frank
  26: ['EstateRegistry', 'ApprovalForAll', { first: ALICE, second: FRANK, isAuthorized: true }],
  // list 1,0 at 2000
  29: ['Marketplace', 'OrderCreated', { id: ORDER_ID, assetId: at(1, 0), seller: ALICE, nftAddress: LAND, priceInWei: 2_000n * WEI, expiresAt: EXPIRES }],
  // dave buys 1,0
  30: ['Marketplace', 'OrderSuccessful', { id: ORDER_ID, assetId: at(1, 0), seller: ALICE, nftAddress: LAND, totalPrice: 2_000n * WEI, buyer: DAVE }],
  // cancel 10,10 through the legacy signature
  32: ['Marketplace', 'OrderCancelled', { id: '0xe42ad14d745381a87cfa3310668c2e6ffb46b4aa6ff160624644573616e02b24', assetId: at(10, 10), seller: ALICE, nftAddress: LAND }],
  // mortgage 1 on 7,21
  51: ['MortgageManager', 'RequestedMortgage', { id: 1n, borrower: ERIN, engine: ENGINE, loanId: 1n, landMarket: MARKET, landId: at(7, 21), deposit: 250n * WEI, tokenConverter: CONVERTER }],
  // cancel mortgage 3
  53: ['MortgageManager', 'CanceledMortgage', { from: ERIN, id: 3n }],
  // lend mortgage 1
  54: ['RCNEngine', 'LoanTransfer', { from: NOBODY, to: LENDER, loanId: 1n }],
  57: ['MortgageManager', 'StartedMortgage', { id: 1n }],
  58: ['RCNEngine', 'Lent', { loanId: 1n, lender: LENDER, cosigner: MANAGER }],
  // partial payment of 300 on loan 1
  59: ['RCNEngine', 'PartialPayment', { loanId: 1n, sender: ERIN, from: ERIN, amount: 300n * WEI }],
  // total payment of loan 1
  60: ['RCNEngine', 'TotalPayment', { loanId: 1n }],
  // claim paid mortgage 1
  61: ['MortgageManager', 'PaidMortgage', { from: ERIN, id: 1n }],
  // lender pardons loan 4 (DestroyedBy)
  62: ['RCNEngine', 'DestroyedBy', { loanId: 4n, by: SECOND_LENDER }],
  // default of mortgage 2
  63: ['MortgageManager', 'DefaultedMortgage', { id: 2n }],
  // auction bid of 3 parcels
  72: ['LANDAuction', 'BidSuccessful', { bidId: 0n, beneficiary: CAROL, token: MANA, pricePerLandInMana: 35_277_777_777_777_778_000_000n, manaAmountToBurn: 105_833_333_333_333_334_000_000n, xs: [20n, 21n, 22n], ys: [30n, 30n, 30n] }],
  // LAND UpdateManager alice->frank
  73: ['LANDRegistry', 'UpdateManager', { owner: ALICE, operator: FRANK, caller: ALICE, isApproved: true }],
  // estate UpdateManager alice->frank
  74: ['EstateRegistry', 'UpdateManager', { owner: ALICE, operator: FRANK, caller: ALICE, isApproved: true }],
  // bob bids 100 on 31,40
  81: ['ERC721Bid', 'BidCreated', { id: BID_ID, tokenAddress: LAND, tokenId: at(31, 40), bidder: BOB, price: 100n * WEI, expiresAt: 1_553_782_028n, fingerprint: '0x' }],
  // carol cancels
  82: ['ERC721Bid', 'BidCancelled', { id: '0x689d849dabb202ff186a5c0568bc877c913a984491840b2945af418e14138d35', tokenAddress: LAND, tokenId: at(31, 40), bidder: CAROL }],
  // alice accepts the bid of bob on 31,40
  83: ['ERC721Bid', 'BidAccepted', { id: BID_ID, tokenAddress: LAND, tokenId: at(31, 40), bidder: BOB, seller: ALICE, price: 100n * WEI, fee: 25n * WEI / 10n }],
}

test.each(EXAMPLE_LOGS.map((example, index) => ({ ...example, index })))(
  'log $index is read as its transaction says: $contract, $transaction',
  ({ log, contract, index }) => {
    const [role, event, fields] = READ_BY_HAND[index] ?? []

    if (role === undefined)
      expect(decodeLog(EXAMPLE_NETWORK, log)).toEqual({
        outcome: 'ignored',
        role: contract === 'unrelatedERC721' ? undefined : contract,
        topic0: log.topics[0],
      })
    else expect(decodeLog(EXAMPLE_NETWORK, log)).toEqual({ outcome: 'decoded', role, event, fields })
  },
)

/** Each event of each contract. */
const EVENTS = CONTRACT_ROLES.flatMap((role) => EVENTS_OF_ROLE[role].map((event) => ({ role, event })))

test.each(EVENTS)('what a contract encodes is decoded again: $event of $role', ({ role, event }) => {
  const layout: Layout = LAYOUTS[event]
  const topics = Object.values(layout.topics).map(({ name }) => name)
  const data = Object.values(layout.data).map(({ name }) => name)
  fc.assert(
    fc.property(arbitrariesOf(topics), arbitrariesOf(data), (topicValues, dataValues) => {
      const decoded = decodeLog(EXAMPLE_NETWORK, logOf(role, event, topicValues, encodeAbi(data, dataValues)))

      expect(decoded).toMatchObject({ outcome: 'decoded', role, event })
      if (decoded.outcome === 'decoded')
        expect(asArrays(decoded.fields)).toEqual([...topicValues, ...dataValues])
    }),
    { numRuns: 20 },
  )
})

test.each(EVENTS)('random bytes never throw: $event of $role', ({ role, event }) => {
  const topics = Object.values((LAYOUTS[event] as Layout).topics).map(({ name }) => name)
  fc.assert(
    fc.property(arbitrariesOf(topics), words(), fc.nat({ max: 40 }), (topicValues, data, cut) => {
      const log = logOf(role, event, topicValues, data.slice(0, Math.max(2, data.length - cut)))

      expect(['decoded', 'unreadable']).toContain(decodeLog(EXAMPLE_NETWORK, log).outcome)
    }),
    { numRuns: 30 },
  )
})

test('data that end early are unreadable wherever they are cut', () => {
  const whole = logOf(
    'LANDRegistry',
    'Update',
    [at(0, 0), ALICE, ALICE],
    encodeAbi(['string'], [`0x${'61'.repeat(32)}`]),
  )
  expect(decodeLog(EXAMPLE_NETWORK, whole).outcome).toBe('decoded')

  for (let length = 2; length < whole.data.length; length += 2)
    expect(decodeLog(EXAMPLE_NETWORK, { ...whole, data: whole.data.slice(0, length) }).outcome).toBe(
      'unreadable',
    )
})

test('zeros after a text may be missing or other bytes, as old contracts have written them', () => {
  const padded = logOf(
    'LANDRegistry',
    'Update',
    [at(0, 0), ALICE, ALICE],
    encodeAbi(['string'], ['0x302c61']),
  )
  const end = padded.data.indexOf('302c61') + 6
  const bare = { ...padded, data: padded.data.slice(0, end) }
  const dirty = { ...padded, data: padded.data.slice(0, end) + 'ff'.repeat(29) }

  for (const log of [padded, bare, dirty])
    expect(decodeLog(EXAMPLE_NETWORK, log)).toMatchObject({ fields: { text: text('0,a') } })
})

test.each([
  [
    'another number of topics',
    () => ({
      ...logOf('LANDRegistry', 'Transfer', [ALICE, BOB, 1n], '0x'),
      topics: [LAYOUTS.Transfer.topic0],
    }),
    'it has 1 topics, not 4',
  ],
  [
    'a token number in the data, as MANA has it',
    () => logOf('EstateRegistry', 'LoanTransfer', [ALICE, BOB], encodeAbi(['uint256'], [1n])),
    'it has 3 topics, not 4',
  ],
  [
    'data where none are expected',
    () => logOf('LANDRegistry', 'Transfer', [ALICE, BOB, 1n], encodeAbi(['uint256'], [1n])),
    'its data have 32 bytes, not 0',
  ],
  [
    'an address of 21 bytes in a topic',
    () => {
      const log = logOf('LANDRegistry', 'Transfer', [ALICE, BOB, 1n], '0x')
      return {
        ...log,
        topics: log.topics.map((topic) => topic.replace(/^0x0{24}(?=9)/, `0x${'0'.repeat(23)}1`)),
      }
    },
    'an address has more than 20 bytes',
  ],
  [
    'a topic that is no word',
    () => {
      const log = logOf('LANDRegistry', 'Transfer', [ALICE, BOB, 1n], '0x')
      return { ...log, topics: log.topics.map((topic, index) => (index === 3 ? '0x' : topic)) }
    },
    'a topic does not have 32 bytes',
  ],
  [
    'a boolean of 2',
    () => logOf('LANDRegistry', 'AuthorizeOperator', [FRANK, ALICE], encodeAbi(['uint256'], [2n])),
    'a boolean is neither 0 nor 1',
  ],
  [
    'an offset of 2^64',
    () =>
      logOf('LANDRegistry', 'Update', [1n, ALICE, ALICE], encodeAbi(['uint256', 'uint256'], [2n ** 64n, 0n])),
    'an offset or a length is larger than the data',
  ],
  [
    'an array of more items than there is room for',
    () =>
      logOf(
        'LANDAuction',
        'BidSuccessful',
        [ALICE, MANA],
        encodeAbi(Array(7).fill('uint256'), [0n, 0n, 0n, 160n, 160n, 200n, 0n]),
      ),
    'the data end at byte 224, before what is expected',
  ],
  [
    'a selector of more than 4 bytes',
    () => {
      const data = encodeAbi([TRADE_TYPE], [tradeWithCheck()])
      return logOf(
        'OffChainMarketplace',
        'Traded',
        [ALICE, LIST_ID],
        data.replace('abcdef01', 'abcdef01ff').slice(0, -2),
      )
    },
    '4 bytes are not followed by zeros',
  ],
])('a log with %s is unreadable, with its role and topic', (_what, make, reason) => {
  const log = make()

  const decoded = decodeLog(EXAMPLE_NETWORK, log)

  expect(decoded).toMatchObject({ outcome: 'unreadable', topic0: log.topics[0], reason })
})

test('a small log whose offsets all lead to the same bytes does not become a large value', () => {
  // 1,000 checks that lead to one with a value of 32 kB would be 32 MB.
  const data = encodeAbi([TRADE_TYPE], [tradeWithCheck(1_000, `0x${'ab'.repeat(32_768)}`)])
  const { shared, size } = shareChecks(data)

  const decoded = decodeLog(EXAMPLE_NETWORK, logOf('OffChainMarketplace', 'Traded', [ALICE, LIST_ID], shared))

  expect(size).toBeLessThan(110_000)
  expect(decoded).toMatchObject({
    outcome: 'unreadable',
    reason: 'offsets lead to the same bytes more than once',
  })
})

test('an upgrade of a contract is known until the newest contract of the network was added, and later names its code', () => {
  const { LANDRegistry, EstateRegistry } = EXAMPLE_NETWORK.contracts
  const network = {
    ...EXAMPLE_NETWORK,
    contracts: { LANDRegistry, EstateRegistry: { ...EstateRegistry!, startBlock: 50 } },
  }
  const code = `0x${'c0'.repeat(20)}`
  const word = `0x${'0'.repeat(24)}${code.slice(2)}`
  const upgrade = '0xe74baeef5988edac1159d9177ca52f0f3d68f624a1996f77467eb3ebfb316537'
  const upgraded = '0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b'
  const log = { ...EXAMPLE_LOGS[0]!.log, address: LAND }

  expect(decodeLog(network, { ...log, topics: [upgrade, word], blockNumber: 50 }).outcome).toBe('ignored')
  for (const [topics, data] of [
    [[upgrade, word], '0x'],
    [[upgraded, word], '0x'],
    [[upgraded], word],
  ] as const)
    expect(decodeLog(network, { ...log, topics, data, blockNumber: 51 })).toEqual({
      outcome: 'upgraded',
      role: 'LANDRegistry',
      topic0: topics[0],
      code,
    })
  expect(decodeLog(network, { ...log, topics: [upgraded], data: '0x', blockNumber: 51 })).toMatchObject({
    outcome: 'upgraded',
    code: undefined,
  })
})

test('a log without topics or of an unknown event is unknown, and one of another contract is ignored', () => {
  const log = logOf('LANDRegistry', 'Transfer', [ALICE, BOB, 1n], '0x')
  const topic0 = `0x${'12'.repeat(32)}`

  expect(decodeLog(EXAMPLE_NETWORK, { ...log, topics: [] })).toEqual({
    outcome: 'unknown',
    role: 'LANDRegistry',
    topic0: undefined,
  })
  expect(decodeLog(EXAMPLE_NETWORK, { ...log, topics: [topic0] })).toEqual({
    outcome: 'unknown',
    role: 'LANDRegistry',
    topic0,
  })
  expect(decodeLog(EXAMPLE_NETWORK, { ...log, address: ALICE })).toEqual({
    outcome: 'ignored',
    role: undefined,
    topic0: log.topics[0],
  })
})

const [TRADE_TYPE = ''] = Object.values(LAYOUTS.Traded.data).map(({ name }) => name)

/** A trade without assets, whose checks of other contracts are all the same. */
function tradeWithCheck(count = 1, value = '0x'): AbiValue {
  const check = [LAND, '0xabcdef01', value, true] as const
  const checks = [
    1n,
    2n,
    3n,
    LIST_ID,
    0n,
    0n,
    LIST_ID,
    [],
    Array.from({ length: count }, (_, i) => (i === 0 ? check : [LAND, '0xabcdef01', '0x', true])),
  ]
  return [ALICE, '0x', checks, [], []]
}

/** Lets every check of a trade lead to the first one, and drops the others. */
function shareChecks(data: string): { readonly shared: string; readonly size: number } {
  const words = data.slice(2).match(/.{64}/g)!
  const count = words.indexOf((1_000).toString(16).padStart(64, '0'))
  const first = words[count + 1]!
  const shared = words.map((word, index) => (index > count && index <= count + 1_000 ? first : word))
  // What follows the first check's value are the other checks, of four words each and an empty value.
  const kept = shared.slice(0, shared.length - 999 * 5)
  // The two empty arrays of assets are read at the end: an empty word is an empty array.
  const last = (kept.length * 32 - 32).toString(16).padStart(64, '0')
  kept[4] = last
  kept[5] = last
  return { shared: `0x${kept.join('')}${'0'.repeat(128)}`, size: kept.length * 32 }
}

function logOf(role: ContractRole, event: EventName, topicValues: readonly AbiValue[], data: string): RawLog {
  const types = Object.values((LAYOUTS[event] as Layout).topics)
  const topics = topicValues.map((value, index) => topicOf(types[index]!.name, value))
  return rawLog({
    address: EXAMPLE_NETWORK.contracts[role]!.address,
    topics: [LAYOUTS[event].topic0, ...topics],
    data,
  })
}

/** Values of these types; structs as arrays, and bytes as hex. */
function arbitrariesOf(types: readonly string[]): fc.Arbitrary<AbiValue[]> {
  return fc.tuple(...types.map(arbitraryOf))
}

function arbitraryOf(type: string): fc.Arbitrary<AbiValue> {
  const parts = partsOf(type)
  if (parts)
    return 'item' in parts ? fc.array(arbitraryOf(parts.item), { maxLength: 3 }) : arbitrariesOf(parts.fields)
  switch (type) {
    case 'uint256':
      return fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.constantFrom(0n, 2n ** 256n - 1n))
    case 'int256':
      return fc.bigInt({ min: -(2n ** 255n), max: 2n ** 255n - 1n })
    case 'bool':
      return fc.boolean()
    case 'address':
      return hex(20, 20)
    case 'bytes32':
      return hex(32, 32)
    case 'bytes4':
      return hex(4, 4)
    default:
      return hex(0, 70)
  }
}

function hex(minLength: number, maxLength: number): fc.Arbitrary<string> {
  return fc.uint8Array({ minLength, maxLength }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`)
}

/** Data that look a little like an encoding: many small numbers, which could be offsets and lengths. */
function words(): fc.Arbitrary<string> {
  const word = fc.oneof(
    { weight: 3, arbitrary: fc.nat({ max: 20 }).map((n) => (n * 32).toString(16).padStart(64, '0')) },
    { weight: 2, arbitrary: fc.nat({ max: 40 }).map((n) => n.toString(16).padStart(64, '0')) },
    { weight: 1, arbitrary: hex(32, 32).map((digits) => digits.slice(2)) },
  )
  return fc.array(word, { maxLength: 40 }).map((list) => `0x${list.join('')}`)
}

/** Structs as arrays of their fields, and texts as hex. */
function asArrays(value: unknown): unknown {
  if (value instanceof Uint8Array) return `0x${Buffer.from(value).toString('hex')}`
  return typeof value === 'object' && value !== null ? Object.values(value).map(asArrays) : value
}
