import { beforeEach, describe, expect, test } from 'vitest'
import {
  ALICE,
  address,
  BLOCK_MS,
  BOB,
  bid,
  CAROL,
  createEstate,
  DAVE,
  describe as describeAsset,
  ESTATE_REGISTRY,
  hash,
  join,
  LandStory,
  leave,
  list,
  MANA_WEI,
  RENTALS,
  transfer,
} from '../../../test/support/land/land-story.ts'
import { ZERO_ADDRESS } from '../records/assets.ts'
import { MAX_ADDRESSES } from '../records/checks.ts'
import { estateFingerprint } from './fingerprints.ts'
import type { Fact } from './rule-context.ts'

const PARCEL = { type: 'parcel', id: '1,1' } as const
const ESTATE = { type: 'estate', id: '1' } as const
let story: LandStory

beforeEach(async () => {
  story = new LandStory()
  await story.transaction(transfer('1,1', null, ALICE))
})

describe('a parcel', () => {
  test('appears when the chain names it first, as an import writes an empty one', async () => {
    expect(await story.parcel('1,1')).toEqual({
      x: 1,
      y: 1,
      owner: ALICE,
      operator: null,
      update_operator: null,
      data_version: 0,
      name: null,
      description: null,
      ipns: null,
      data_text: null,
      district_id: null,
      district_position: null,
      estate_id: null,
      estate_position: null,
      plaza_district_id: null,
      plaza_distance: null,
      road_district_id: null,
      road_distance: null,
      auction_price: null,
      auction_owner: null,
      auctioned_at_ms: null,
      auction_block_number: null,
      auction_tx_hash: null,
      auction_log_index: null,
      last_transferred_at_ms: story.nowMs,
      created_at_ms: story.nowMs,
      updated_at_ms: story.nowMs,
      approvals_for_all: null,
      update_managers: null,
      holder: null,
      tenant: null,
      rented_until_ms: null,
    })
  })

  test('loses its operators when it moves, and keeps what its owner wrote', async () => {
    await story.transaction(
      { kind: 'operator-set', asset: PARCEL, operator: BOB },
      { kind: 'update-operator-set', asset: PARCEL, operator: CAROL },
      describeAsset('1,1', '0,Home,Sweet,'),
    )
    expect(await story.parcel('1,1')).toMatchObject({ operator: BOB, update_operator: CAROL, name: 'Home' })

    await story.transaction(transfer('1,1', ALICE, DAVE))

    expect(await story.parcel('1,1')).toMatchObject({
      owner: DAVE,
      operator: null,
      update_operator: null,
      name: 'Home',
      last_transferred_at_ms: story.nowMs,
    })
  })

  test('has no operator after it was taken back', async () => {
    await story.transaction({ kind: 'operator-set', asset: PARCEL, operator: BOB })
    await story.transaction({ kind: 'operator-set', asset: PARCEL, operator: null })

    expect(await story.parcel('1,1')).toMatchObject({ operator: null, updated_at_ms: story.nowMs })
  })

  test('keeps its name and shows the raw text when its owner writes what is no record', async () => {
    await story.transaction(describeAsset('1,1', '0,Home,,'))
    await story.transaction(describeAsset('1,1', Uint8Array.of(0, 255)))

    expect(await story.parcel('1,1')).toMatchObject({ name: 'Home', data_text: '0x00ff' })
  })

  test('that was auctioned has its exact price', async () => {
    await story.transaction({
      kind: 'parcels-auctioned',
      parcels: [
        { x: 1, y: 1 },
        { x: -9, y: 9 },
      ],
      buyer: BOB,
      priceWei: 1n,
    })

    const sold = { auction_owner: BOB, auction_price: '0.000000000000000001' }
    expect(await story.parcel('1,1')).toMatchObject({ ...sold, owner: ALICE })
    expect(await story.parcel('-9,9')).toMatchObject({ ...sold, owner: null })
  })
})

describe('an estate', () => {
  test('has its parcels in the order in which they joined', async () => {
    await story.transaction(...createEstate('1', ALICE, ['1,1', '1,3', '1,2']))
    await story.transaction(transfer('1,3', ESTATE_REGISTRY, ALICE), leave('1', '1,3'))
    await story.transaction(transfer('1,3', ALICE, ESTATE_REGISTRY), join('1', '1,3'))

    expect(await story.members('1')).toEqual(['1,1', '1,2', '1,3'])
    expect(await story.parcel('1,1')).toMatchObject({
      owner: ESTATE_REGISTRY,
      estate_id: '1',
      estate_position: 0,
    })
    expect(await story.estate('1')).toMatchObject({
      owner: ALICE,
      name: 'Home',
      token_id: '1',
      tx_hash: hash('tx 2'),
      fingerprint: estateFingerprint('1', [
        { x: 1, y: 1 },
        { x: 1, y: 2 },
        { x: 1, y: 3 },
      ]),
    })
  })

  test('has them although joining is logged before the transfer, as until 2019', async () => {
    await story.transaction(
      ...createEstate('1', ALICE),
      join('1', '1,1'),
      transfer('1,1', ALICE, ESTATE_REGISTRY),
    )

    expect(await story.parcel('1,1')).toMatchObject({ owner: ESTATE_REGISTRY, estate_id: '1' })
  })

  test('has one that came directly from another estate, whichever of the two is logged first', async () => {
    await story.transaction(...createEstate('1', ALICE, ['1,1', '1,2']), ...createEstate('2', ALICE))

    await story.transaction(
      transfer('1,1', ESTATE_REGISTRY, ESTATE_REGISTRY),
      join('2', '1,1'),
      leave('1', '1,1'),
    )
    await story.transaction(
      transfer('1,2', ESTATE_REGISTRY, ESTATE_REGISTRY),
      leave('1', '1,2'),
      join('2', '1,2'),
    )

    expect(await story.members('1')).toEqual([])
    expect(await story.members('2')).toEqual(['1,1', '1,2'])
    expect((await story.estate('1')).fingerprint).toBe(estateFingerprint('1', []))
  })

  test('stays when its last parcel left', async () => {
    await story.transaction(...createEstate('1', ALICE, ['1,1']))
    await story.transaction(transfer('1,1', ESTATE_REGISTRY, BOB), leave('1', '1,1'))

    expect(await story.estate('1')).toMatchObject({ owner: ALICE })
    expect(await story.parcel('1,1')).toMatchObject({ owner: BOB, estate_id: null, estate_position: null })
  })

  test('whose creation was lost has its parcels, and its owner after the next transfer', async () => {
    await story.transaction(join('7', '1,1'), join('7', '8,8'))
    expect(await story.members('7')).toEqual(['1,1', '8,8'])
    expect(await story.parcel('8,8')).toMatchObject({ owner: ESTATE_REGISTRY })
    expect(await story.estate('7')).toMatchObject({ owner: ZERO_ADDRESS, name: null })

    await story.transaction(transfer('7', BOB, CAROL))

    expect(await story.estate('7')).toMatchObject({ owner: CAROL })
  })

  test('that its receiver passed on before the creation was logged belongs to the last one', async () => {
    await story.transaction(transfer('1', null, ALICE), transfer('1', ALICE, BOB), {
      kind: 'estate-created',
      estateId: '1',
      owner: ALICE,
      text: Buffer.from('nothing'),
    })

    expect(await story.estate('1')).toMatchObject({ owner: BOB, name: null, data_text: '0x6e6f7468696e67' })
  })
})

describe('rights over all land of an owner', () => {
  const right = (
    kind: 'approval-for-all-set' | 'update-manager-set',
    registry: 'parcel' | 'estate',
    operator: string,
    isApproved = true,
  ): Fact<typeof kind> => ({ kind, registry, owner: ALICE, operator, isApproved })
  const rightsOf = ({ approvals_for_all, update_managers }: Awaited<ReturnType<LandStory['parcel']>>) => ({
    approvals_for_all,
    update_managers,
  })

  test('stand on each parcel, sorted, until they are taken back', async () => {
    await story.transaction(transfer('1,2', null, ALICE), transfer('9,9', null, BOB))
    await story.transaction(
      right('approval-for-all-set', 'parcel', CAROL),
      right('approval-for-all-set', 'parcel', BOB),
      right('update-manager-set', 'parcel', DAVE),
    )
    for (const id of ['1,1', '1,2'])
      expect(rightsOf(await story.parcel(id))).toEqual({
        approvals_for_all: [BOB, CAROL].sort(),
        update_managers: [DAVE],
      })
    expect(rightsOf(await story.parcel('9,9'))).toEqual({ approvals_for_all: null, update_managers: null })

    await story.transaction(
      right('approval-for-all-set', 'parcel', CAROL, false),
      right('update-manager-set', 'parcel', DAVE, false),
    )

    expect(rightsOf(await story.parcel('1,1'))).toEqual({ approvals_for_all: [BOB], update_managers: null })
    expect(story.rows.rowsOf('land_right')).toEqual([
      { kind: 'approval', registry: 'parcel', owner: ALICE, operator: BOB },
    ])
  })

  test('are those of the next owner after a transfer', async () => {
    await story.transaction(right('approval-for-all-set', 'parcel', CAROL))
    await story.transaction(transfer('1,1', ALICE, BOB))
    expect((await story.parcel('1,1')).approvals_for_all).toBeNull()

    await story.transaction(transfer('1,1', BOB, ALICE))
    expect((await story.parcel('1,1')).approvals_for_all).toEqual([CAROL])
  })

  test('over a parcel in an estate are those over the estate', async () => {
    await story.transaction(right('approval-for-all-set', 'parcel', CAROL))
    await story.transaction(...createEstate('1', ALICE, ['1,1']))
    expect((await story.parcel('1,1')).approvals_for_all).toBeNull()

    await story.transaction(right('update-manager-set', 'estate', DAVE))
    expect(rightsOf(await story.parcel('1,1'))).toEqual({ approvals_for_all: null, update_managers: [DAVE] })
    expect((await story.estate('1')).update_managers).toEqual([DAVE])

    await story.transaction(transfer('1', ALICE, BOB))
    expect((await story.parcel('1,1')).update_managers).toBeNull()

    await story.transaction(transfer('1,1', ESTATE_REGISTRY, ALICE), leave('1', '1,1'))
    expect((await story.parcel('1,1')).approvals_for_all).toEqual([CAROL])
  })

  test('that change nothing leave the rows alone', async () => {
    await story.transaction(right('approval-for-all-set', 'parcel', CAROL))
    const before = { ...(await story.parcel('1,1')) }
    await story.transaction(
      right('approval-for-all-set', 'parcel', CAROL),
      right('approval-for-all-set', 'parcel', DAVE, false),
    )

    expect(await story.parcel('1,1')).toEqual(before)
  })

  test('of very many operators are as many as a snapshot takes', async () => {
    const operators = Array.from({ length: MAX_ADDRESSES + 5 }, (_, at) => address(`operator ${at}`))
    await story.transaction(...operators.map((operator) => right('approval-for-all-set', 'parcel', operator)))

    expect((await story.parcel('1,1')).approvals_for_all).toHaveLength(MAX_ADDRESSES)
    expect(story.rows.rowsOf('land_right')).toHaveLength(MAX_ADDRESSES + 5)
  })
})

describe('a rent', () => {
  const DAY_MS = 86_400_000
  const rent = (days: number, isExtension = false): Fact<'asset-rented'> => ({
    kind: 'asset-rented',
    asset: PARCEL,
    lessor: ALICE,
    tenant: BOB,
    days,
    isExtension,
  })
  const start = () =>
    story.transaction(
      transfer('1,1', ALICE, RENTALS),
      { kind: 'update-operator-set', asset: PARCEL, operator: BOB },
      rent(10),
    )

  test('leaves the land with its owner, and says who has the token, who rents it and until when', async () => {
    await start()

    expect(await story.parcel('1,1')).toMatchObject({
      owner: ALICE,
      holder: RENTALS,
      tenant: BOB,
      rented_until_ms: story.nowMs + 10 * DAY_MS,
      update_operator: BOB,
    })
    expect(await story.rows.assetsOf('parcel', ALICE)).toHaveLength(1)
  })

  test('is extended from its end, not from the time of the extension', async () => {
    await start()
    const startedMs = story.nowMs
    await story.transaction(rent(5, true))

    expect((await story.parcel('1,1')).rented_until_ms).toBe(startedMs + 15 * DAY_MS)
  })

  test('makes listings wait until the land is claimed, and bids stay with the lessor', async () => {
    await story.transaction(list('1,1', ALICE), bid('1,1', CAROL))
    await start()
    expect(await story.listingStates('1,1')).toEqual(['cancelled (moved)'])
    expect(await story.bids('1,1')).toMatchObject([{ seller: ALICE, status: 'open' }])

    await story.transaction(transfer('1,1', RENTALS, ALICE), { kind: 'rent-ended', asset: PARCEL })

    expect(await story.listingStates('1,1')).toEqual(['open'])
    expect(await story.parcel('1,1')).toMatchObject({
      owner: ALICE,
      holder: null,
      tenant: null,
      rented_until_ms: null,
      update_operator: null,
    })
  })

  test('has none of the rights of the lessor, whose operators cannot act for the contract', async () => {
    const right = {
      kind: 'approval-for-all-set',
      registry: 'parcel',
      owner: ALICE,
      isApproved: true,
    } as const
    await story.transaction({ ...right, operator: CAROL })
    await start()
    await story.transaction({ ...right, operator: DAVE })
    expect((await story.parcel('1,1')).approvals_for_all).toBeNull()

    await story.transaction(transfer('1,1', RENTALS, ALICE))
    expect((await story.parcel('1,1')).approvals_for_all).toEqual([CAROL, DAVE].sort())
  })

  test('of an estate is one, too', async () => {
    await story.transaction(...createEstate('1', ALICE, ['1,1']))
    await story.transaction(transfer('1', ALICE, RENTALS), { ...rent(1), asset: ESTATE })

    expect(await story.estate('1')).toMatchObject({ owner: ALICE, holder: RENTALS, tenant: BOB })
    expect(await story.parcel('1,1')).toMatchObject({ holder: null, tenant: null, estate_id: '1' })
  })

  test('of land that was only sent to the contract there is none: the contract owns it', async () => {
    await story.transaction(transfer('1,1', ALICE, RENTALS))

    expect(await story.parcel('1,1')).toMatchObject({ owner: RENTALS, holder: null, tenant: null })
  })

  test('of more days than there is time ends at the last time that a column takes', async () => {
    await story.transaction(transfer('1,1', ALICE, RENTALS), rent(1e70))

    expect((await story.parcel('1,1')).rented_until_ms).toBe(Number.MAX_SAFE_INTEGER)
  })
})

describe('an offer that was signed off the chain', () => {
  const trade: Fact<'asset-traded'> = {
    kind: 'asset-traded',
    asset: PARCEL,
    marketplace: address('signed'),
    contractId: hash('signature'),
    seller: ALICE,
    buyer: BOB,
    priceWei: 12n * MANA_WEI,
    assets: 1,
    offer: 'sale',
  }
  const signature = { marketplace: trade.marketplace, signatureKey: hash('key') }

  test('is a sale in the history of the land', async () => {
    await story.transaction(list('1,1', ALICE))
    await story.transaction(transfer('1,1', ALICE, BOB), trade)

    expect(await story.listings('1,1')).toMatchObject([
      { status: 'cancelled', closed_by: 'moved' },
      {
        status: 'sold',
        closed_by: 'event',
        owner: ALICE,
        buyer: BOB,
        price: '12',
        contract_id: hash('signature'),
        marketplace_address: trade.marketplace,
        tx_hash: hash('tx 3'),
        log_index: 1,
        block_time_updated_at_ms: story.nowMs,
      },
    ])
  })

  test('is no sale without a price: a swap or a gift', async () => {
    await story.transaction({ ...trade, priceWei: null }, { ...trade, priceWei: 0n })

    expect(await story.listings('1,1')).toEqual([])
  })

  test('is known as cancelled by an address, as used so often, and by the indexes that were raised; a marketplace as paused', async () => {
    await story.transaction(
      { kind: 'signature-used', ...signature, signer: ALICE },
      { kind: 'signature-used', ...signature, signer: ALICE },
      { kind: 'signature-cancelled', ...signature, by: ALICE },
      { kind: 'signature-cancelled', ...signature, by: BOB },
      { kind: 'signature-index-raised', marketplace: trade.marketplace, signer: null, index: 1n },
      { kind: 'signature-index-raised', marketplace: trade.marketplace, signer: ALICE, index: 2n ** 255n },
      { kind: 'marketplace-paused', marketplace: trade.marketplace, isPaused: true },
      { kind: 'marketplace-paused', marketplace: CAROL, isPaused: true },
      { kind: 'marketplace-paused', marketplace: CAROL, isPaused: false },
    )

    const named = { marketplace: trade.marketplace, signature_key: hash('key') }
    expect(story.rows.rowsOf('trade_signature')).toEqual([
      { ...named, signer: ALICE, is_cancelled: true, uses: 2 },
      { ...named, signer: BOB, is_cancelled: true, uses: 0 },
    ])
    expect(story.rows.rowsOf('trade_index')).toEqual([
      { marketplace: CAROL, signer: '', value: '0', is_paused: false },
      { marketplace: trade.marketplace, signer: '', value: '1', is_paused: true },
      { marketplace: trade.marketplace, signer: ALICE, value: (2n ** 255n).toString(), is_paused: false },
    ])
  })
})

test('every row that an event changes has the time of its block', async () => {
  await story.transaction(...createEstate('1', ALICE, ['1,1']))
  await story.transaction(transfer('1,1', ESTATE_REGISTRY, ALICE), leave('1', '1,1'))

  const times = [(await story.parcel('1,1')).updated_at_ms, (await story.estate('1')).updated_at_ms]
  expect(times).toEqual([story.nowMs, story.nowMs])
  expect((await story.parcel('1,1')).created_at_ms).toBe(story.nowMs - 2 * BLOCK_MS)
})
