import { encodeTokenId } from '@landpass/client/grid'
import {
  ALICE,
  BOB,
  CAROL,
  DAVE,
  DEPLOYER,
  ERIN,
  FRANK,
  LENDER,
  SECOND_LENDER,
} from '@landpass/server/test/support/chain/chain-examples'
import { REAL_LOGS } from '@landpass/server/test/support/chain/real-chain-logs'
import { describe, expect, test } from 'vitest'
import { numberWord } from '../encoding/words.ts'
import { BidContract } from './bids.ts'
import { type Eras, erasOf } from './eras.ts'
import { EstateRegistry } from './estate-registry.ts'
import { LandAuction } from './land-auction.ts'
import { LandRegistry } from './land-registry.ts'
import { Machine, type SimulatedLog } from './machine.ts'
import { LegacyMarketplace, Marketplace } from './marketplaces.ts'
import { LoanEngine, MortgageHelper, MortgageManager } from './mortgages.ts'
import { Currency } from './tokens.ts'

const NEVER = 1_000_000
const MANA = 10n ** 18n
const FEES = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const MILLISECONDS = 0x3bb2cc3d800n

/** The contracts at the addresses of the recorded chain. */
const AT = {
  currency: '0x5fbdb2315678afecb367f032d93f642f64180aa3',
  converter: '0x0f5d1ef48f12b6f691401bfe88c2037c690a6afe',
  land: '0xe7f1725e7734ce288f8367e1bb143e90bb3f0512',
  estates: '0xbcf26943c0197d2ee0e5d05c716be60cc2761508',
  legacyMarket: '0x8464135c8f25da09e49bc8782676a84730c318bc',
  market: '0xc6ba8c3233ecf65b761049ef63466945c362edd2',
  manager: '0xca03dc4665a8c3603cb4fd5ce71af9649dc00d44',
  helper: '0x73eccd6288e117caca738bdad4fec51312166c1a',
  engine: '0x05aa229aec102f78ce0e852a812a388f076aa555',
  auction: '0x851356ae760d987e095750cceb3bc6014560891c',
  bids: '0x1e2f4432bfef9e9ad39da6d272f4aff33629c770',
}

const at = (x: number, y: number) => numberWord(encodeTokenId({ x, y }))
const text = (value: string) => Buffer.from(value)

describe('the registry of parcels logs what the real one did', () => {
  test('in its first weeks', () => {
    const { land, run } = start({ approvals: NEVER, argumentOrderChanges: NEVER, estates: NEVER })

    expect(run(() => land.mint(DEPLOYER, ALICE, [at(-3, 0)]))).toEqual(real('mint 12 parcels to alice'))
    run(() => land.mint(DEPLOYER, ALICE, [at(0, 0)]))
    run(() => land.mint(DEPLOYER, BOB, [at(-3, 2)]))
    const described = run(() => land.describe(ALICE, at(0, 0), text('0,Alice HQ,First plot,ipns:QmAliceHQ')))
    expect(described).toEqual(real('data 0,0'))
    const authorized = run(() => land.setApprovalForAll(ALICE, FRANK, true))
    expect(authorized).toEqual(real('AuthorizeOperator frank for alice'))
    expect(run(() => land.approve(BOB, FRANK, at(-3, 2)))).toEqual(real('Approve frank for -3,2'))
  })

  test('from March to August 2018', () => {
    const old = start({ argumentOrderChanges: NEVER, estates: NEVER })

    expect(old.run(() => old.land.mint(DEPLOYER, BOB, [at(-150, -150)]))).toEqual(real('mint -150,-150'))
    expect(old.run(() => old.land.setApprovalForAll(ALICE, AT.legacyMarket, true))).toEqual(
      real('alice ApprovalForAll legacy market (operator,holder order)'),
    )
    old.run(() => old.land.mint(DEPLOYER, ALICE, [at(-1, 1)]))
    expect(old.run(() => old.land.approve(ALICE, FRANK, at(-1, 1)))).toEqual(real('Approval frank -1,1'))

    const { land, run } = start({ estates: NEVER })
    run(() => land.mint(DEPLOYER, ALICE, [at(-1, 0)]))
    expect(run(() => land.setUpdateOperator(ALICE, at(-1, 0), FRANK))).toEqual(
      real('UpdateOperator frank -1,0'),
    )
  })

  test('today', () => {
    const { land, run } = start()

    expect(run(() => land.mint(DEPLOYER, ALICE, [at(5, 20)]))).toEqual(real('mint 9 parcels to alice'))
    expect(run(() => land.setUpdateManager(ALICE, ALICE, FRANK, true))).toEqual(
      real('LAND UpdateManager alice->frank'),
    )
  })
})

test('the registry of estates logs what the real one did', () => {
  const { land, estates, run } = start({ addLandAfterTransfer: NEVER })
  run(() => land.mint(DEPLOYER, ALICE, [at(5, 20), at(5, 21)]))

  const first = text('0,"Alice, Estate",first estate,')
  const created = run(() => land.createEstate(ALICE, [at(5, 20), at(5, 21)], ALICE, first))
  const [transfer, create, add, landTransfer] = created
  expect([transfer, create, add]).toEqual(
    real('estate 1 (alice): AddLand is logged before the LAND Transfer in this era'),
  )
  expect(landTransfer).toMatchObject({ address: AT.land, topics: { length: 4 } })

  const removed = run(() => estates.removeLand(ALICE, numberWord(1), [at(5, 21)], DAVE))
  expect(removed.slice(1)).toEqual(real('remove 5,21 from estate 1 to dave'))
  const second = text('0,Alice Estate v2,"multi\nline, text",ipns:QmEstate1')
  expect(run(() => estates.describe(ALICE, numberWord(1), second))).toEqual(real('estate 1 metadata'))
  expect(run(() => estates.approve(ALICE, FRANK, numberWord(1)))).toEqual(real('estate 1 Approval frank'))
  expect(run(() => estates.setUpdateOperator(ALICE, numberWord(1), FRANK))).toEqual(
    real('estate 1 UpdateOperator frank'),
  )
  expect(run(() => estates.setApprovalForAll(ALICE, FRANK, true))).toEqual(
    real('estate ApprovalForAll alice->frank'),
  )
  expect(start().run((parts) => parts.estates.setUpdateManager(ALICE, ALICE, FRANK, true))).toEqual(
    real('estate UpdateManager alice->frank'),
  )
})

test('the fingerprint of an estate is that of the real registry', () => {
  const { land, estates, run } = start()
  const parcels = [at(8, 20), at(8, 21)]
  run(() => land.mint(DEPLOYER, ALICE, [...parcels, at(1, 1)]))
  for (const ids of [[at(1, 1)], parcels, [at(1, 1)]]) {
    run(() => {
      land.createEstate(ALICE, ids, ALICE, text(''))
      if (ids.length === 1) estates.removeLand(ALICE, numberWord(estates.total()), ids, ALICE)
    })
  }

  expect(estates.firstFingerprint(numberWord(3))).toBe(
    '0xddb2364e2ad70c712830fb8b52823d50e037df0bd5c7351085a42f28d82a5d89',
  )
  expect(estates.firstFingerprint(numberWord(2))).toBe(
    '0x38863c48f1eb8168d3d333a52342aa97684d2ad099741aca85923358ef43daba',
  )
})

test('the marketplace of 2018 logs what the real one did, its contract-made ids included', () => {
  const { land, legacyMarket, currency, run } = start({ argumentOrderChanges: NEVER, estates: NEVER })
  run(() => land.mint(DEPLOYER, ALICE, [at(0, 0), at(1, 0)]))
  run(() => land.setApprovalForAll(ALICE, AT.legacyMarket, true))
  const offer = (x: number, mana: bigint) => ({
    ...{ token: land, id: at(x, 0), priceWei: mana * MANA, expiresAt: MILLISECONDS },
  })

  expect(run(() => currency.approve(ALICE, AT.legacyMarket, 5_000_000n * MANA))).toEqual(
    real('alice approves MANA for legacy market'),
  )
  const listed = run(() => legacyMarket.create(ALICE, offer(0, 1_000n)), 1521460898)
  expect(listed).toEqual(real('legacy list 0,0 at 1000'))
  const bought = run(() => legacyMarket.execute(BOB, land, at(0, 0), 1_000n * MANA))
  const [sold, fee] = real('bob buys 0,0 (legacy)').toReversed()
  expect(bought.at(-1)).toEqual(sold)
  expect(bought[0]).toEqual(fee)
  run(() => legacyMarket.create(ALICE, offer(1, 1_500n)), 1521460898)
  const [cancelled] = run(() => legacyMarket.cancel(ALICE, land, at(1, 0)))
  const [expected] = real('legacy cancel 1,0')
  expect(cancelled).toEqual({ ...expected, data: expect.stringMatching(/^0x[\da-f]{64}$/) })
})

test('the marketplace of today logs what the real one did, its contract-made ids included', () => {
  const { land, market, run } = start()
  run(() => land.mint(DEPLOYER, ALICE, [at(1, 0), at(10, 10)]))
  run(() => land.setApprovalForAll(ALICE, AT.market, true))
  const offer = (x: number, y: number, mana: bigint) => ({
    ...{ token: land, id: at(x, y), priceWei: mana * MANA, expiresAt: MILLISECONDS },
  })

  const listed = run(() => market.create(ALICE, offer(1, 0, 2_000n)), 1539270056)
  expect(listed).toEqual(real('list 1,0 at 2000'))
  const bought = run(() => market.execute(DAVE, land, at(1, 0), 2_000n * MANA))
  expect(bought.at(-1)).toEqual(real('dave buys 1,0')[0])
  expect(bought.map(({ address }) => address)).toEqual([AT.currency, AT.currency, AT.land, AT.market])

  const old = run(() => market.create(ALICE, offer(10, 10, 4_000n), true), 1539270084)
  expect(old[1]).toEqual(
    real(
      'list 10,10 through the legacy signature: OrderCreated and AuctionCreated from the same contract',
    )[0],
  )
  expect(run(() => market.cancel(ALICE, land, at(10, 10), true))).toEqual(
    real('cancel 10,10 through the legacy signature'),
  )
  run(() => market.create(ALICE, offer(10, 10, 4_100n)), 1539270112)
  const sold = run(() => market.execute(CAROL, land, at(10, 10), 4_100n * MANA, true))
  expect(sold.at(-1)).toEqual(
    real('carol buys 10,10 (legacy signature): OrderSuccessful and AuctionSuccessful')[0],
  )
})

test('bids log what the real contract did, their ids included', () => {
  const { land, bids, run } = start()
  run(() => land.mint(DEPLOYER, ALICE, [at(31, 40)]))
  const terms = { priceWei: 100n * MANA, durationS: 30n * 86_400n, fingerprint: '0x' }

  const placed = run(() => bids.place(BOB, land, at(31, 40), terms), 1551190028)
  expect(placed).toEqual(real('bob bids 100 on 31,40'))
  const [event] = real('bob bids 100 on 31,40') as [SimulatedLog]
  run(() => bids.place(CAROL, land, at(31, 40), { ...terms, priceWei: 200n * MANA }), 1551190042)
  const [cancelled] = run(() => bids.cancel(CAROL, land.address, at(31, 40)))
  expect(cancelled).toMatchObject({ topics: real('carol cancels')[0]!.topics })
  const accepted = run(() => bids.accept(ALICE, land, at(31, 40), event.data.slice(0, 66)))
  expect(accepted.at(-1)).toEqual(
    real('alice accepts the bid of bob on 31,40: listing and the bid of dave die without events')[0],
  )
  expect(accepted.map(({ address }) => address)).toEqual([
    ...[AT.land, AT.land, AT.currency, AT.currency, AT.bids],
  ])
})

test('mortgages log what the real contracts did', () => {
  const { land, market, engine, manager, helper, run } = start()
  run(() => land.mint(DEPLOYER, ALICE, [at(7, 21)]))
  run(() => land.setApprovalForAll(ALICE, AT.market, true))
  const price = { priceWei: 1_250n * MANA, expiresAt: MILLISECONDS }
  run(() => market.create(ALICE, { token: land, id: at(7, 21), ...price }))
  const deposit = 250n * MANA
  const terms = {
    ...{ amountWei: 1_000n * MANA, interestRate: 10n ** 14n, punitoryInterestRate: 10n ** 14n },
    ...{ duesInS: 86_400n, cancelableAtS: 0n, expiresAt: MILLISECONDS },
  }

  const requested = run(() => helper.request(ERIN, at(7, 21), terms, deposit))
  const named = requested.filter(({ address }) => address !== AT.converter)
  expect(named).toEqual(real('mortgage 1 on 7,21: will be paid and claimed'))
  run(() => helper.request(ERIN, at(7, 21), terms, deposit))
  run(() => helper.request(ERIN, at(7, 21), terms, deposit))
  const cancelled = run(() => manager.cancel(ERIN, 3))
  expect(cancelled.at(-1)).toEqual(real('cancel mortgage 3')[0])

  const lent = run(() => engine.lend(LENDER, 1, manager))
  const own = lent.filter(({ address }) => address === AT.engine || address === AT.manager)
  // The third one names the oracle, which is no part of the simulation.
  expect(own.toSpliced(2, 1)).toEqual(real('lend mortgage 1').toSpliced(2, 1))
  const paid = run(() => engine.pay(ERIN, 1, 300n * MANA))
  expect(paid.at(-1)).toEqual(real('partial payment of 300 on loan 1')[0])
  const rest = run(() => engine.pay(ERIN, 1, 5_000n * MANA))
  expect(rest).toContainEqual(
    real('total payment of loan 1 (asked 5000, engine takes the pending amount)')[0],
  )
  expect(run(() => manager.claim(ERIN, 1))).toContainEqual(real('claim paid mortgage 1')[0])
})

test('pardoned and defaulted mortgages log what the real contracts did', () => {
  const { land, market, engine, manager, helper, machine, run } = start()
  run(() => land.mint(DEPLOYER, ALICE, [at(7, 22)]))
  run(() => land.setApprovalForAll(ALICE, AT.market, true))
  run(() => market.create(ALICE, { token: land, id: at(7, 22), priceWei: MANA, expiresAt: MILLISECONDS }))
  const terms = {
    ...{ amountWei: MANA, interestRate: 10n ** 14n, punitoryInterestRate: 10n ** 14n },
    ...{ duesInS: 86_400n, cancelableAtS: 0n, expiresAt: MILLISECONDS },
  }
  for (const borrower of [ERIN, ERIN, ERIN, ERIN]) run(() => helper.request(borrower, at(7, 22), terms, 0n))

  run(() => engine.lend(LENDER, 2, manager))
  const soon = machine.run(() => manager.claim(LENDER, 2))
  const late = run(() => manager.claim(LENDER, 2), machine.timeS + 10 * 86_400)
  run(() => engine.lend(SECOND_LENDER, 4, undefined))
  const pardoned = run(() => engine.destroy(SECOND_LENDER, 4))

  expect(soon).toEqual({ isSuccess: false, logs: [] })
  expect(late).toContainEqual(real('default of mortgage 2: lender takes 7,22')[0])
  expect(land.ownerOf(at(7, 22))).toBe(LENDER)
  expect(pardoned[0]).toEqual(real('lender pardons loan 4 (DestroyedBy)')[0])
})

test('the auction logs what the real contract did', () => {
  const { auction, run } = start({ auction: 0, auctionEnds: NEVER })
  const [, , expected] = real('auction bid of 3 parcels') as [SimulatedLog, SimulatedLog, SimulatedLog]
  const priceWei = BigInt(`0x${expected.data.slice(2 + 64, 2 + 128)}`)
  const parcels = [at(20, 30), at(21, 30), at(22, 30)]

  const logs = run(() => auction.bid(CAROL, parcels, CAROL, priceWei))

  expect(logs.filter(({ address }) => address === AT.auction).at(-1)).toEqual(expected)
  expect(logs.map(({ address }) => address)).toEqual([
    ...[AT.currency, AT.land, AT.land, AT.land, AT.currency, AT.auction, AT.auction],
  ])
})

/** The logs that the real contracts wrote in the transaction. */
function real(transaction: string): SimulatedLog[] {
  const logs = REAL_LOGS.filter((one) => one.transaction === transaction).map(({ log }) => log)
  if (logs.length === 0) throw new Error(`nothing is recorded of ${transaction}`)
  return logs
}

function start(changes: Partial<Eras> = {}) {
  const machine = new Machine({ ...erasOf(0), auctionEnds: 0, ...changes })
  machine.beginBlock(1)
  const currency = new Currency(machine, AT.currency)
  const land = new LandRegistry(machine, AT.land)
  const estates = new EstateRegistry(machine, AT.estates, land)
  land.setEstateRegistry(estates)
  const options = { currency, owner: FEES, cutPerMillion: 20_000n }
  const legacyMarket = new LegacyMarketplace(machine, AT.legacyMarket, options)
  const market = new Marketplace(machine, AT.market, { ...options, cutPerMillion: 25_000n })
  const engine = new LoanEngine(machine, AT.engine, currency)
  const manager = new MortgageManager(machine, AT.manager, {
    ...{ engine, market, land, currency: new Currency(machine, AT.converter) },
  })
  const parts = {
    ...{ machine, currency, land, estates, legacyMarket, market, engine, manager },
    helper: new MortgageHelper(machine, AT.helper, manager),
    bids: new BidContract(machine, AT.bids, { currency, owner: FEES }),
    auction: new LandAuction(machine, AT.auction, { land, currency }),
  }
  const run = (transaction: (all: typeof parts) => void, timeS = machine.timeS) => {
    machine.timeS = timeS
    const { isSuccess, logs } = machine.run(() => transaction(parts))
    expect(isSuccess).toBe(true)
    return logs
  }
  return { ...parts, run }
}
