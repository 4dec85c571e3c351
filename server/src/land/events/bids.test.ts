import { parseCoord } from '@landpass/client/grid'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  ALICE,
  acceptBid,
  address,
  BIDS,
  BOB,
  bid,
  CAROL,
  cancelBid,
  createEstate,
  DAVE,
  ESTATE_REGISTRY,
  hash,
  join,
  LandStory,
  leave,
  transfer,
} from '../../../test/support/land/land-story.ts'
import { estateFingerprint, estateFingerprintV2 } from './fingerprints.ts'

let story: LandStory

beforeEach(async () => {
  story = new LandStory()
  await story.transaction(transfer('1,1', null, ALICE))
})

test('a bid is offered to the owner, in milliseconds and exact MANA', async () => {
  await story.transaction({ ...bid('1,1', BOB, { expiresAtS: 1_600_000_000n }), priceWei: 1n })

  expect(await story.bids('1,1')).toMatchObject([
    {
      key: 1,
      id: hash(`bid of ${BOB}`),
      bidder: BOB,
      seller: ALICE,
      price: '0.000000000000000001',
      expires_at_ms: 1_600_000_000_000,
      fingerprint: '0x',
      status: 'open',
      block_time_created_at_ms: story.nowMs,
      block_time_updated_at_ms: story.nowMs,
      tx_hash: hash('tx 2'),
      log_index: 0,
      contract_address: BIDS,
      closed_by: null,
      closed_tx_hash: null,
    },
  ])
})

test('a bid follows the parcel to its next owner', async () => {
  await story.transaction(bid('1,1', BOB))
  const placedAtMs = story.nowMs
  await story.transaction(transfer('1,1', ALICE, CAROL))

  expect(await story.bids('1,1')).toMatchObject([
    { seller: CAROL, status: 'open', updated_at_ms: story.nowMs, block_time_updated_at_ms: placedAtMs },
  ])
})

test('a bid on a parcel that nobody owns any more keeps its last seller', async () => {
  await story.transaction(bid('1,1', BOB))
  await story.transaction(transfer('1,1', ALICE, null))

  expect((await story.parcel('1,1')).owner).toBeNull()
  expect(await story.bids('1,1')).toMatchObject([{ seller: ALICE, status: 'open' }])
})

test('a bidder has one bid on an asset: the next one replaces it and both stay in the history', async () => {
  await story.transaction(bid('1,1', BOB, { id: 'low' }))
  await story.transaction(bid('1,1', BOB, { id: 'high' }), bid('1,1', CAROL))

  expect(await story.bidStates('1,1')).toEqual(['cancelled (replaced)', 'open', 'open'])
})

test('accepting a bid makes it sold by its seller, and the others void for ever', async () => {
  await story.transaction(bid('1,1', BOB), bid('1,1', CAROL))
  await story.transaction(...acceptBid('1,1', ALICE, BOB))
  await story.transaction(bid('1,1', DAVE))
  await story.transaction(transfer('1,1', BOB, ALICE))

  const [ofBob, ofCarol, ofDave] = await story.bids('1,1')
  expect(ofBob).toMatchObject({
    status: 'sold',
    closed_by: 'event',
    closed_tx_hash: hash('tx 3'),
    seller: ALICE,
  })
  expect(ofCarol).toMatchObject({ status: 'cancelled', closed_by: 'void', seller: ALICE })
  expect(ofDave).toMatchObject({ status: 'open', seller: ALICE })
})

test('a cancelled bid is the one with that id on that asset', async () => {
  await story.transaction(transfer('1,2', null, ALICE), bid('1,1', BOB), bid('1,2', BOB))
  await story.transaction(cancelBid('1,2', BOB))

  expect(await story.bidStates('1,1')).toEqual(['open'])
  expect(await story.bidStates('1,2')).toEqual(['cancelled (event)'])
})

test('two equal bids of one block have one id: the newer one is cancelled', async () => {
  await story.transaction(bid('1,1', BOB), bid('1,1', BOB))
  await story.transaction(cancelBid('1,1', BOB))

  expect(await story.bidStates('1,1')).toEqual(['cancelled (replaced)', 'cancelled (event)'])
})

test('a bid on a parcel of an estate is offered to the registry of estates', async () => {
  await story.transaction(...createEstate('1', ALICE, ['1,1']))
  await story.transaction(bid('1,1', BOB))

  expect(await story.bids('1,1')).toMatchObject([{ seller: ESTATE_REGISTRY, status: 'open' }])
})

describe('a bid on an estate is for the parcels that it had', () => {
  const fingerprint = estateFingerprint('1', [{ x: 1, y: 1 }])

  beforeEach(async () => {
    await story.transaction(...createEstate('1', ALICE, ['1,1']), transfer('1,2', null, ALICE))
    await story.transaction(bid('1', BOB, { fingerprint }))
  })

  const grow = () => story.transaction(transfer('1,2', ALICE, ESTATE_REGISTRY), join('1', '1,2'))
  const shrink = () => story.transaction(transfer('1,2', ESTATE_REGISTRY, ALICE), leave('1', '1,2'))

  test('it is closed while they are others, and open again when they are the same', async () => {
    await grow()
    expect(await story.bids('1')).toMatchObject([
      { status: 'cancelled', closed_by: 'fingerprint', block_time_updated_at_ms: story.nowMs },
    ])

    await shrink()
    expect(await story.bids('1')).toMatchObject([
      { status: 'open', closed_by: null, closed_tx_hash: null, block_time_updated_at_ms: story.nowMs },
    ])
  })

  test('it can be cancelled, replaced or become void while they are others', async () => {
    await story.transaction(bid('1', CAROL, { fingerprint }), bid('1', DAVE, { fingerprint }))
    await grow()
    const grown = (await story.estate('1')).fingerprint!
    await story.transaction(cancelBid('1', BOB), bid('1', CAROL, { id: 'newer', fingerprint: grown }))
    expect(await story.bidStates('1')).toEqual([
      'cancelled (event)',
      'cancelled (replaced)',
      'cancelled (fingerprint)',
      'open',
    ])

    await story.transaction(...acceptBid('1', ALICE, CAROL, { id: 'newer' }))
    await shrink()

    expect(await story.bidStates('1')).toEqual([
      'cancelled (event)',
      'cancelled (replaced)',
      'cancelled (void)',
      'sold (event)',
    ])
    expect((await story.bids('1')).map(({ sold_size }) => sold_size)).toEqual([null, null, null, 2])
  })

  test('one that was made for other parcels is closed from the start', async () => {
    await story.transaction(bid('1', CAROL, { fingerprint: estateFingerprint('1', []) }))

    expect(await story.bidStates('1')).toEqual(['open', 'cancelled (fingerprint)'])
  })

  test('with the second fingerprint it is closed also when a parcel comes back to another place', async () => {
    const second = (places: readonly string[]) =>
      estateFingerprintV2(
        '1',
        places.map((place) => parseCoord(place)!),
      )
    await grow()
    await story.transaction(bid('1', CAROL, { fingerprint: second(['1,1', '1,2']) }))
    await story.transaction(bid('1', DAVE, { fingerprint: second(['1,2', '1,1']) }))
    expect((await story.bidStates('1')).slice(1)).toEqual(['open', 'cancelled (fingerprint)'])

    await story.transaction(transfer('1,1', ESTATE_REGISTRY, ALICE), leave('1', '1,1'))
    await story.transaction(transfer('1,1', ALICE, ESTATE_REGISTRY), join('1', '1,1'))

    expect((await story.bidStates('1')).slice(1)).toEqual(['cancelled (fingerprint)', 'open'])
  })

  test('a registry that moves the last parcel into a gap has another order than the parcels joined in', async () => {
    for (const place of ['1,3', '1,4'])
      await story.transaction(
        transfer(place, null, ALICE),
        transfer(place, ALICE, ESTATE_REGISTRY),
        join('1', place),
      )
    const orderAfter = async (fact: ReturnType<typeof leave>) => {
      await story.transaction(fact)
      return (await story.estate('1')).registry_order
    }
    expect(await orderAfter(leave('1', '1,1'))).toBe('1,4 1,3')
    expect(await orderAfter(join('1', '1,1'))).toBe('1,4 1,3 1,1')
    expect(await orderAfter(leave('1', '1,4'))).toBe('1,1 1,3')
    expect(await orderAfter(leave('1', '1,1'))).toBeNull()
  })

  test('a fingerprint of any length breaks nothing', async () => {
    await story.transaction(bid('1', CAROL, { fingerprint: '0x' }))
    await story.transaction(bid('1', DAVE, { fingerprint: `0x${'ab'.repeat(5000)}` }))

    expect((await story.bids('1')).map((one) => one.fingerprint.length)).toEqual([66, 2, 1026])
    expect(await story.bidStates('1')).toEqual(['open', 'cancelled (fingerprint)', 'cancelled (fingerprint)'])
  })

  test('the fingerprint of an estate of a snapshot is computed when its parcels change', async () => {
    story.rows.put('estate', { ...(await story.estate('1')), fingerprint: null })
    await story.transaction(bid('1', address('erin'), { fingerprint }))
    expect(await story.bidStates('1')).toEqual(['open', 'open'])

    await grow()
    await shrink()

    expect((await story.estate('1')).fingerprint).toBe(fingerprint)
    expect(await story.bidStates('1')).toEqual(['open', 'open'])
  })
})
