import { beforeEach, describe, expect, test } from 'vitest'
import {
  ALICE,
  acceptBid,
  BLOCK_MS,
  BOB,
  bid,
  CAROL,
  cancel,
  createEstate,
  ESTATE_REGISTRY,
  FAR_S,
  hash,
  join,
  LandStory,
  LEGACY_MARKETPLACE,
  leave,
  list,
  sell,
  sold,
  transfer,
} from '../../../test/support/land/land-story.ts'

const LEGACY = { marketplace: LEGACY_MARKETPLACE }
let story: LandStory

beforeEach(async () => {
  story = new LandStory()
  await story.transaction(transfer('1,1', null, ALICE), transfer('1,2', null, ALICE))
})

test('a listing has what its seller asked, and where it was logged', async () => {
  await story.transaction(transfer('5,5', null, BOB), list('1,1', ALICE, { id: 'first', mana: 7n }))

  expect(await story.listings('1,1')).toEqual([
    {
      key: 1,
      tx_hash: hash('tx 2'),
      tx_status: 'confirmed',
      owner: ALICE,
      price: '7',
      expires_at_ms: Number(FAR_S) * 1000,
      status: 'open',
      buyer: null,
      contract_id: hash('first'),
      block_number: 7_000_002,
      block_time_created_at_ms: story.nowMs,
      block_time_updated_at_ms: null,
      asset_id: '1,1',
      asset_type: 'parcel',
      marketplace_address: list('1,1', ALICE).marketplace,
      created_at_ms: story.nowMs,
      updated_at_ms: story.nowMs,
      log_index: 1,
      closed_by: null,
      closed_tx_hash: null,
      trade_id: null,
      sold_size: null,
      sold_source: null,
      sold_block_number: null,
      sold_log_index: null,
    },
  ])
})

test('several listings of one transaction are all there, each by its log', async () => {
  await story.transaction(list('1,1', ALICE), list('1,2', ALICE))

  const both = [...(await story.listings('1,1')), ...(await story.listings('1,2'))]
  expect(both.map(({ tx_hash, log_index }) => [tx_hash, log_index])).toEqual([
    [hash('tx 2'), 0],
    [hash('tx 2'), 1],
  ])
})

test('a listing is sold although the transfer of the sale is logged before', async () => {
  await story.transaction(list('1,1', ALICE))
  await story.transaction(...sell('1,1', ALICE, BOB))

  expect(await story.listings('1,1')).toMatchObject([
    {
      status: 'sold',
      closed_by: 'event',
      closed_tx_hash: hash('tx 3'),
      owner: ALICE,
      buyer: BOB,
      block_time_updated_at_ms: story.nowMs,
    },
  ])
})

test('a sale has its block, and the size that an estate had, which is dissolved later', async () => {
  await story.transaction(transfer('1,2', null, ALICE), ...createEstate('1', ALICE, ['1,1', '1,2']))
  await story.transaction(list('1', ALICE))
  await story.transaction(...sell('1', ALICE, BOB))
  await story.transaction(leave('1', '1,1'), leave('1', '1,2'))

  expect(await story.listings('1')).toMatchObject([
    { status: 'sold', sold_size: 2, sold_source: 'order', sold_block_number: 7_000_004, sold_log_index: 1 },
  ])
})

test('a cancelled listing does not come back', async () => {
  await story.transaction(list('1,1', ALICE))
  await story.transaction(cancel('1,1'))
  await story.transaction(transfer('1,1', ALICE, BOB))
  await story.transaction(transfer('1,1', BOB, ALICE))

  expect(await story.listingStates('1,1')).toEqual(['cancelled (event)'])
})

describe('the marketplace keeps the listing of an asset that moved', () => {
  beforeEach(() => story.transaction(list('1,1', ALICE)))

  test('it is not for sale elsewhere, and is again when the asset returns', async () => {
    await story.transaction(transfer('1,1', ALICE, BOB))
    expect(await story.listings('1,1')).toMatchObject([
      { status: 'cancelled', closed_by: 'moved', block_time_updated_at_ms: story.nowMs, buyer: null },
    ])

    await story.transaction(transfer('1,1', BOB, ALICE))
    expect(await story.listings('1,1')).toMatchObject([
      {
        status: 'open',
        closed_by: null,
        closed_tx_hash: null,
        block_time_updated_at_ms: null,
        updated_at_ms: story.nowMs,
      },
    ])
  })

  test('it is sold to a later buyer', async () => {
    await story.transaction(transfer('1,1', ALICE, BOB))
    await story.transaction(transfer('1,1', BOB, ALICE))
    await story.transaction(...sell('1,1', ALICE, CAROL))

    expect(await story.listingStates('1,1')).toEqual(['sold (event)'])
  })

  test('its seller can cancel it while another has the asset', async () => {
    await story.transaction(transfer('1,1', ALICE, BOB))
    await story.transaction(cancel('1,1'))
    await story.transaction(transfer('1,1', BOB, ALICE))

    expect(await story.listingStates('1,1')).toEqual(['cancelled (event)'])
  })

  test('the listing of the next owner replaces it for good', async () => {
    await story.transaction(transfer('1,1', ALICE, BOB))
    const movedAtMs = story.nowMs
    await story.transaction(list('1,1', BOB, { id: 'next' }))
    await story.transaction(transfer('1,1', BOB, ALICE))

    expect(await story.listingStates('1,1')).toEqual(['cancelled (replaced)', 'cancelled (moved)'])
    expect((await story.listings('1,1'))[0]).toMatchObject({
      block_time_updated_at_ms: movedAtMs,
      closed_tx_hash: hash('tx 3'),
    })
  })

  test('one made in the block of the transfer is closed like an older one', async () => {
    await story.transaction(list('1,2', ALICE, { id: 'late' }), transfer('1,2', ALICE, BOB))

    expect(await story.listingStates('1,2')).toEqual(['cancelled (moved)'])
  })

  test('it is not for sale while the parcel is in an estate, before and after 2019', async () => {
    await story.transaction(...createEstate('1', ALICE, ['1,1']))
    expect(await story.listingStates('1,1')).toEqual(['cancelled (moved)'])

    await story.transaction(transfer('1,1', ESTATE_REGISTRY, ALICE), leave('1', '1,1'))
    expect(await story.listingStates('1,1')).toEqual(['open'])

    await story.transaction(join('1', '1,1'), transfer('1,1', ALICE, ESTATE_REGISTRY))
    expect(await story.listingStates('1,1')).toEqual(['cancelled (moved)'])
  })

  test('it is not for sale after a bid was accepted', async () => {
    await story.transaction(bid('1,1', BOB))
    await story.transaction(...acceptBid('1,1', ALICE, BOB))

    expect(await story.listingStates('1,1')).toEqual(['cancelled (moved)'])
    expect(await story.bidStates('1,1')).toEqual(['sold (event)'])
  })
})

test('a newer listing in the same marketplace replaces the older one, which stays in the history', async () => {
  await story.transaction(list('1,1', ALICE, { id: 'old' }))
  await story.transaction(list('1,1', ALICE, { id: 'new', mana: 9n }))

  expect(await story.listings('1,1')).toMatchObject([
    { status: 'cancelled', closed_by: 'replaced', block_time_updated_at_ms: story.nowMs, price: '100' },
    { status: 'open', price: '9' },
  ])
})

test('two equal listings of one block have one id: the newer one is sold', async () => {
  await story.transaction(list('1,1', ALICE), list('1,1', ALICE))
  await story.transaction(...sell('1,1', ALICE, BOB))

  expect(await story.listingStates('1,1')).toEqual(['cancelled (replaced)', 'sold (event)'])
})

test('two marketplaces can both have a listing of one parcel', async () => {
  await story.transaction(list('1,1', ALICE, { id: 'one' }))
  await story.transaction(list('1,1', ALICE, { ...LEGACY, id: 'one' }))
  expect(await story.listingStates('1,1')).toEqual(['open', 'open'])

  await story.transaction(cancel('1,1', { id: 'one' }))

  expect(await story.listingStates('1,1')).toEqual(['cancelled (event)', 'open'])
})

test('an id of another asset or marketplace closes nothing', async () => {
  await story.transaction(list('1,1', ALICE), list('1,2', ALICE))
  await story.transaction(...sell('1,2', ALICE, BOB))

  expect(await story.listingStates('1,1')).toEqual(['open'])
})

test('estates are listed beside the parcel whose token id is the same number', async () => {
  await story.transaction(transfer('0,1', null, BOB), ...createEstate('1', ALICE))
  await story.transaction(list('1', ALICE), list('0,1', BOB))
  await story.transaction(...sell('1', ALICE, CAROL))

  expect(await story.listingStates('1')).toEqual(['sold (event)'])
  expect(await story.listingStates('0,1')).toEqual(['open'])
})

test('a listing in seconds is good for as long as the contract says, and so is one in milliseconds', async () => {
  await story.transaction(list('1,1', ALICE, { expiresAt: 1_700_000_000n }))
  await story.transaction(list('1,2', ALICE, { expiresAt: 1_700_000_000_000n }))
  const [inSeconds] = await story.listings('1,1')
  const [inMs] = await story.listings('1,2')

  expect([inSeconds?.expires_at_ms, inMs?.expires_at_ms]).toEqual([1_700_000_000_000, 1_700_000_000_000])
})

test('a deadline beyond all times is cut, and no digit of a price is lost', async () => {
  await story.transaction({
    ...list('1,1', ALICE, { expiresAt: 2n ** 256n - 1n }),
    priceWei: 1_500_123_456_789_012_345_678n,
  })

  expect(await story.listings('1,1')).toMatchObject([
    { expires_at_ms: 2 ** 53 - 1, price: '1500.123456789012345678' },
  ])
})

describe('the legacy marketplace closes the listing of the parcel, whatever the id', () => {
  test('a cancellation of what is not listed has no id and closes nothing', async () => {
    await story.transaction(list('1,1', ALICE, LEGACY))
    await story.transaction({ ...cancel('1,1', LEGACY), contractId: `0x${'0'.repeat(64)}` })

    expect(await story.listingStates('1,1')).toEqual(['open'])
  })

  test('a buyer who lists again while receiving the parcel makes the sale name the new listing', async () => {
    await story.transaction(list('1,1', ALICE, { ...LEGACY, id: 'first' }))

    await story.transaction(
      transfer('1,1', ALICE, BOB),
      list('1,1', BOB, { ...LEGACY, id: 'again' }),
      sold('1,1', ALICE, BOB, { ...LEGACY, id: 'again' }),
    )

    expect(await story.listings('1,1')).toMatchObject([
      { status: 'sold', owner: ALICE, buyer: BOB, contract_id: hash('first') },
      { status: 'cancelled', closed_by: 'event', owner: BOB, buyer: null },
    ])
  })
})

test('in the newer marketplace, the listing that a buyer makes while receiving the asset stays open', async () => {
  await story.transaction(list('1,1', ALICE, { id: 'first' }))

  await story.transaction(
    transfer('1,1', ALICE, BOB),
    list('1,1', BOB, { id: 'again' }),
    sold('1,1', ALICE, BOB, { id: 'first' }),
  )

  expect(await story.listingStates('1,1')).toEqual(['sold (event)', 'open'])
})

test('a sale whose listing was never seen is a sale all the same', async () => {
  await story.transaction(...sell('1,1', ALICE, BOB, { id: 'unseen', mana: 3n }))

  expect(await story.listings('1,1')).toMatchObject([
    {
      status: 'sold',
      owner: ALICE,
      buyer: BOB,
      price: '3',
      block_time_created_at_ms: story.nowMs,
      block_time_updated_at_ms: story.nowMs,
      expires_at_ms: story.nowMs,
    },
  ])
})

test('a listing of a snapshot that does not say why it is closed is not opened, but can be sold', async () => {
  await story.transaction(list('1,1', ALICE))
  const [row] = await story.listings('1,1')
  story.rows.put('publication', {
    ...row!,
    status: 'cancelled',
    block_time_updated_at_ms: story.nowMs - BLOCK_MS,
  })
  await story.transaction(transfer('1,1', ALICE, BOB))
  await story.transaction(transfer('1,1', BOB, ALICE))
  expect(await story.listingStates('1,1')).toEqual(['cancelled'])

  await story.transaction(...sell('1,1', ALICE, BOB))

  expect(await story.listingStates('1,1')).toEqual(['sold (event)'])
})
