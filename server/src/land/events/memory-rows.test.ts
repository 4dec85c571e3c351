import { expect, test } from 'vitest'
import { ALICE, BOB, createEstate, LandStory, list, transfer } from '../../../test/support/land/land-story.ts'
import { MemoryRows } from './memory-rows.ts'
import { emptyEstate, emptyParcel } from './new-rows.ts'

const AT = { blockNumber: 1, timeMs: 1, txHash: `0x${'1'.repeat(64)}`, logIndex: 0 }

test('rows come in the order of an import, whatever the order in which they came', () => {
  const rows = new MemoryRows()
  for (const [x, y] of [
    [5, 0],
    [-3, 7],
    [5, -1],
    [-3, -7],
  ] as const)
    rows.put('parcel', emptyParcel({ x, y }, 0))
  for (const id of ['10', '9', '100']) rows.put('estate', emptyEstate(id, AT))

  expect(rows.rowsOf('parcel').map(({ x, y }) => [x, y])).toEqual([
    [-3, -7],
    [-3, 7],
    [5, -1],
    [5, 0],
  ])
  expect(rows.rowsOf('estate').map(({ id }) => id)).toEqual(['9', '10', '100'])
})

test('listings that are loaded in any order are known oldest first, and the next one gets the next key', async () => {
  const story = new LandStory()
  await story.transaction(
    transfer('1,1', null, ALICE),
    list('1,1', ALICE),
    list('1,1', ALICE),
    list('1,1', ALICE),
  )
  const [first, second, third] = await story.listings('1,1')

  const loaded = new MemoryRows()
  for (const row of [third!, first!, second!]) loaded.put('publication', row)

  expect(await loaded.publicationsOf({ type: 'parcel', id: '1,1' })).toEqual([first, second, third])
  expect([await loaded.nextKey('publication'), await loaded.nextKey('publication')]).toEqual([4, 5])
})

test('rows that are removed are in no answer any more', async () => {
  const story = new LandStory()
  await story.transaction(
    transfer('1,1', null, ALICE),
    ...createEstate('1', ALICE, ['1,1']),
    list('1', ALICE),
    {
      kind: 'mortgage-requested',
      mortgageId: 1n,
      loanId: 2n,
      borrower: ALICE,
      parcel: { x: 1, y: 1 },
    },
  )
  const { rows } = story
  rows.remove('parcel', await story.parcel('1,1'))
  rows.remove('estate', await story.estate('1'))
  rows.remove('publication', (await story.listings('1'))[0]!)
  rows.remove('mortgage', await story.mortgage(1))

  expect(await rows.parcelsOfEstate('1')).toEqual([])
  expect(await rows.assetsOf('estate', ALICE)).toEqual([])
  expect(await rows.publicationsOf({ type: 'estate', id: '1' })).toEqual([])
  expect(await rows.mortgage({ loanId: 2 })).toBeUndefined()
})

test('a listing that no event changes any more is known, and asked for by none', async () => {
  const story = new LandStory()
  await story.transaction(transfer('1,1', null, ALICE), list('1,1', ALICE))
  const [first] = await story.listings('1,1')
  await story.transaction(list('1,1', ALICE), list('1,1', ALICE))
  await story.transaction(transfer('1,1', ALICE, BOB))

  expect(await story.listingStates('1,1')).toEqual([
    'cancelled (replaced)',
    'cancelled (replaced)',
    'cancelled (moved)',
  ])
  const { rows } = story
  expect((await rows.publicationsOf({ type: 'parcel', id: '1,1' })).map(({ key }) => key)).toEqual([3])

  rows.put('publication', first!)
  expect((await rows.publicationsOf({ type: 'parcel', id: '1,1' })).map(({ key }) => key)).toEqual([1, 3])
  expect((await story.listingStates('1,1'))[0]).toBe('open')
  rows.remove('publication', first!)
  expect(rows.rowsOf('publication').map(({ key }) => key)).toEqual([2, 3])
})
