import { encodeTokenId } from '@landpass/client/grid'
import { beforeEach, describe, expect, test } from 'vitest'
import { addressOfText, hashOfHex, numberWord, ZERO_ADDRESS } from '../encoding/words.ts'
import { Contracts, PROJECT } from './contracts.ts'
import { erasOf } from './eras.ts'
import { Machine } from './machine.ts'
import { TOPIC } from './topics.ts'
import { ASSET_TYPE, type Trade } from './trades.ts'

const [ANN, BOB, CARL] = ['ann', 'bob', 'carl'].map(addressOfText) as [string, string, string]
const PARCEL = numberWord(encodeTokenId({ x: 1, y: 2 }))
const OTHER = numberWord(encodeTokenId({ x: -1, y: 2 }))
const ESTATE = numberWord(1)
const DAY_S = 86_400
const START_S = 1_700_000_000
const LATER = BigInt(START_S + 1_000 * DAY_S)
const BID = { priceWei: 5n, durationS: 3_600n, fingerprint: '0x' }

let machine: Machine
let contracts: Contracts

beforeEach(() => {
  machine = new Machine(erasOf(0))
  contracts = new Contracts(machine)
  machine.beginBlock(START_S)
  run(() => contracts.land.mint(PROJECT, ANN, [PARCEL, OTHER]))
})

describe('a listing', () => {
  beforeEach(() => {
    const { land, market } = contracts
    run(() => land.setApprovalForAll(ANN, market.address, true))
    run(() => market.create(ANN, { token: land, id: PARCEL, priceWei: 9n, expiresAt: LATER }))
  })

  test('is dead while somebody else has the parcel, and alive when it is back', () => {
    const { land, market } = contracts
    const buy = () => market.execute(CARL, land, PARCEL, 9n)

    run(() => land.transferFrom(ANN, ANN, BOB, PARCEL))
    expect(fails(buy)).toBe(true)
    run(() => land.transferFrom(BOB, BOB, ANN, PARCEL))

    expect(run(buy).at(-1)?.topics[0]).toBe(TOPIC.orderSuccessful)
    expect(land.ownerOf(PARCEL)).toBe(CARL)
    expect(market.order(land.address, PARCEL)).toBeUndefined()
  })

  test('replaces the one before without a log', () => {
    const { land, market } = contracts
    const offer = { token: land, id: PARCEL, priceWei: 11n, expiresAt: LATER }

    const logs = run(() => market.create(ANN, offer))

    expect(logs.map(({ topics }) => topics[0])).toEqual([TOPIC.orderCreated])
    expect(market.order(land.address, PARCEL)?.priceWei).toBe(11n)
  })

  test('that nobody made can be cancelled by the owner of the old marketplace, with empty words', () => {
    const { land, legacyMarket } = contracts

    const [log] = run(() => legacyMarket.cancel(PROJECT, land, OTHER))

    expect(log).toMatchObject({
      topics: [TOPIC.auctionCancelled, OTHER, numberWord(0)],
      data: numberWord(0),
    })
  })
})

describe('bids', () => {
  test('one of a bidder is replaced; accepting one voids all others, without logs', () => {
    const { land, bids } = contracts
    run(() => bids.place(BOB, land, PARCEL, BID))
    run(() => bids.place(CARL, land, PARCEL, BID))
    run(() => bids.place(BOB, land, PARCEL, { ...BID, priceWei: 6n }))
    const [first, second] = bids.bidsOf(land.address, PARCEL)
    expect([first?.bidder, first?.priceWei, second?.bidder]).toEqual([BOB, 6n, CARL])

    const logs = run(() => bids.accept(ANN, land, PARCEL, second!.id))

    expect(logs.map(({ topics }) => topics[0])).toEqual([
      ...[TOPIC.transfer, TOPIC.transfer, TOPIC.transfer, TOPIC.bidAccepted],
    ])
    expect(bids.bidsOf(land.address, PARCEL)).toEqual([])
    expect(land.ownerOf(PARCEL)).toBe(CARL)
  })

  test('of an estate fit only its parcels of that time', () => {
    const { land, estates, bids } = contracts
    run(() => land.createEstate(ANN, [PARCEL, OTHER], ANN, Buffer.from('')))
    const fingerprint = estates.fingerprint(ESTATE)
    run(() => bids.place(BOB, estates, ESTATE, { ...BID, fingerprint }))
    const accept = () => bids.accept(ANN, estates, ESTATE, bids.bidsOf(estates.address, ESTATE)[0]!.id)

    run(() => estates.removeLand(ANN, ESTATE, [OTHER], ANN))
    expect(fails(accept)).toBe(true)
    run(() => land.transferToEstate(ANN, [OTHER], ESTATE))

    expect(estates.fingerprint(ESTATE)).toBe(fingerprint)
    run(accept)
    expect(estates.ownerOf(ESTATE)).toBe(BOB)
  })

  test('that have expired can be removed by everybody', () => {
    const { land, bids } = contracts
    run(() => bids.place(BOB, land, PARCEL, BID))
    expect(fails(() => bids.removeExpired(land.address, PARCEL, BOB))).toBe(true)

    machine.beginBlock(START_S + 3_601)
    const [log] = run(() => bids.removeExpired(land.address, PARCEL, BOB))

    expect(log?.topics[0]).toBe(TOPIC.bidCancelled)
  })
})

describe('a transfer', () => {
  test('takes the approval of a parcel back before it, with a log, and the update operator without one', () => {
    const { land } = contracts
    run(() => land.approve(ANN, BOB, PARCEL))
    run(() => land.setUpdateOperator(ANN, PARCEL, CARL))

    const logs = run(() => land.transferFrom(BOB, ANN, CARL, PARCEL))

    expect(logs.map(({ topics }) => topics[0])).toEqual([TOPIC.approval, TOPIC.transfer])
    expect(land.operators.get(PARCEL)).toBeUndefined()
    expect(land.updateOperators.get(PARCEL)).toBeUndefined()
  })

  test('by a stranger fails, and leaves no trace', () => {
    const { land } = contracts

    expect(fails(() => land.transferFrom(BOB, ANN, BOB, PARCEL))).toBe(true)
    expect(land.ownerOf(PARCEL)).toBe(ANN)
  })
})

test('AddLand is logged before the parcel’s Transfer until January 2019, and after it today', () => {
  const topicsOf = (eras: ReturnType<typeof erasOf>) => {
    machine = new Machine(eras)
    const { land } = new Contracts(machine)
    machine.beginBlock(START_S)
    run(() => land.mint(PROJECT, ANN, [PARCEL]))
    const logs = run(() => land.createEstate(ANN, [PARCEL], ANN, Buffer.from('')))
    return logs.slice(2).map(({ topics }) => topics[0])
  }

  expect(topicsOf({ ...erasOf(0), addLandAfterTransfer: 9 })).toEqual([TOPIC.addLand, TOPIC.transfer])
  expect(topicsOf(erasOf(0))).toEqual([TOPIC.transfer, TOPIC.addLand])
})

test('a rent is extended from its end, and the lessor gets the parcel back after it', () => {
  const { land, rentals } = contracts
  const terms = { lessor: ANN, tenant: BOB, operator: BOB, days: 2, pricePerDayWei: 3n, signature: '0x00' }
  run(() => land.approve(ANN, rentals.address, PARCEL))

  run(() => rentals.rent(BOB, land, PARCEL, terms))
  run(() => rentals.rent(BOB, land, PARCEL, terms))
  expect(rentals.rental(land.address, PARCEL)?.endS).toBe(START_S + 4 * DAY_S)
  expect([land.ownerOf(PARCEL), land.updateOperators.get(PARCEL)]).toEqual([rentals.address, BOB])
  expect(fails(() => rentals.claim(ANN, land, PARCEL))).toBe(true)
  machine.beginBlock(START_S + 4 * DAY_S + 1)
  run(() => rentals.claim(ANN, land, PARCEL))

  expect(land.ownerOf(PARCEL)).toBe(ANN)
})

test('a signed offer is used once, and dies when its signer cancels it or raises the index', () => {
  const { land, currency, trades } = contracts
  const [market] = trades
  run(() => land.setApprovalForAll(ANN, market.address, true))
  const offer = (salt: number, id: string): Trade => ({
    ...{ signer: ANN, signature: `0x${String(salt).padStart(130, '0')}`, uses: 1, salt: numberWord(salt) },
    ...{ expirationS: START_S + DAY_S, effectiveS: 0, contractIndex: 0, signerIndex: 0 },
    externalChecks: [],
    sent: [
      { assetType: ASSET_TYPE.token, contract: land, value: id, beneficiary: ZERO_ADDRESS, extra: '0x' },
    ],
    received: [
      {
        assetType: ASSET_TYPE.currency,
        contract: currency,
        value: numberWord(5),
        beneficiary: ANN,
        extra: '0x',
      },
    ],
  })

  const logs = run(() => market.accept(BOB, offer(1, PARCEL)))
  expect(logs.map(({ topics }) => topics[0])).toEqual([TOPIC.transfer, TOPIC.transfer, TOPIC.traded])
  expect(fails(() => market.accept(BOB, offer(1, PARCEL)))).toBe(true)
  run(() => market.cancel(CARL, hashOfHex(offer(2, OTHER).signature)))
  run(() => market.cancel(ANN, hashOfHex(offer(3, OTHER).signature)))
  expect(fails(() => market.accept(BOB, offer(3, OTHER)))).toBe(true)
  run(() => market.accept(BOB, offer(2, OTHER)))
  run(() => market.raiseSignerIndex(ANN))
  expect(fails(() => market.accept(CARL, offer(4, PARCEL)))).toBe(true)
  expect(land.ownerOf(OTHER)).toBe(BOB)
})

function run(transaction: () => void) {
  const { isSuccess, logs } = machine.run(transaction)
  expect(isSuccess).toBe(true)
  return logs
}

function fails(transaction: () => void): boolean {
  return !machine.run(transaction).isSuccess
}
