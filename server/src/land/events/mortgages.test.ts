import { beforeEach, expect, test } from 'vitest'
import {
  ALICE,
  BLOCK_MS,
  BOB,
  CAROL,
  hash,
  LandStory,
  MANA_WEI,
} from '../../../test/support/land/land-story.ts'
import type { LandFact } from './land-event.ts'

const MORTGAGE = { mortgageId: 4n }
const LOAN = { loanId: 70n }
const YEAR_S = 31_536_000n

const requested: LandFact = {
  kind: 'mortgage-requested',
  ...MORTGAGE,
  ...LOAN,
  borrower: ALICE,
  parcel: { x: 1, y: 1 },
}
/** 1,000 MANA for a year. Each second costs a millionth of the amount, and two after it is due. */
const terms: LandFact = {
  kind: 'loan-terms-read',
  ...LOAN,
  terms: {
    amountWei: 1000n * MANA_WEI,
    interestRate: 10n ** 11n,
    punitoryInterestRate: 5n * 10n ** 10n,
    duesInS: YEAR_S,
    cancelableAtS: 2_592_000n,
    expiresAt: 1_600_000_000_000n,
  },
}
const started: LandFact = { kind: 'mortgage-started', ...MORTGAGE }
const lent: LandFact = { kind: 'loan-lent', ...LOAN, lender: BOB }
const paid = (mana: bigint): LandFact => ({ kind: 'loan-partly-paid', ...LOAN, amountWei: mana * MANA_WEI })
const seconds = (ms: number) => Math.floor(ms / 1000)

let story: LandStory

beforeEach(async () => {
  story = new LandStory()
  await story.transaction(requested, terms)
})

test('a mortgage without the helper is there, and one with it is there once', async () => {
  await story.transaction(requested)

  expect(story.rows.rowsOf('mortgage')).toEqual([
    {
      key: 1,
      tx_hash: hash('tx 1'),
      tx_status: 'confirmed',
      block_number: 7_000_001,
      log_index: 0,
      status: 'pending',
      asset_id: '1,1',
      asset_type: 'parcel',
      borrower: ALICE,
      lender: null,
      loan_id: 70,
      mortgage_id: 4,
      amount: '1000',
      is_due_at_s: 0,
      due_in_s: Number(YEAR_S),
      expires_at_ms: 1_600_000_000_000,
      block_time_created_at_ms: story.nowMs - BLOCK_MS,
      block_time_updated_at_ms: null,
      created_at_ms: story.nowMs - BLOCK_MS,
      updated_at_ms: story.nowMs - BLOCK_MS,
      outstanding_amount: '0',
      payable_at_s: 2_592_000,
      interest_rate: 10 ** 11,
      punitory_interest_rate: 5 * 10 ** 10,
      paid: '0',
      started_at_ms: null,
    },
  ])
})

test('two mortgages of one transaction are both there', async () => {
  const other: LandFact = { ...requested, kind: 'mortgage-requested', mortgageId: 5n, loanId: 71n }
  await story.transaction(other, { ...other, mortgageId: 6n, loanId: 72n } as LandFact)

  expect(story.rows.rowsOf('mortgage').map(({ mortgage_id }) => mortgage_id)).toEqual([4, 5, 6])
})

test('a loan starts, is paid in parts and in full, and its parcel is claimed', async () => {
  await story.transaction(started, lent)
  const startedMs = story.nowMs
  expect(await story.mortgage(4)).toMatchObject({
    status: 'ongoing',
    lender: BOB,
    started_at_ms: startedMs,
    is_due_at_s: seconds(startedMs) + Number(YEAR_S),
    outstanding_amount: '1000',
    block_time_updated_at_ms: startedMs,
  })

  await story.transaction(paid(400n))
  expect(await story.mortgage(4)).toMatchObject({ paid: '400', outstanding_amount: '600.015' })

  await story.transaction(paid(601n), { kind: 'loan-paid', ...LOAN })
  expect(await story.mortgage(4)).toMatchObject({ status: 'paid', paid: '1001', outstanding_amount: '0' })

  await story.transaction({ kind: 'mortgage-claimed', ...MORTGAGE })
  expect(await story.mortgage(4)).toMatchObject({
    status: 'claimed',
    lender: BOB,
    is_due_at_s: expect.any(Number),
  })
})

test('a loan is the same whether its terms are read before it starts or after', async () => {
  const late = new LandStory()
  await late.transaction(requested)
  await late.transaction(started, lent, terms)
  await story.transaction(started, lent)

  const { created_at_ms: _, ...row } = await late.mortgage(4)
  expect(await story.mortgage(4)).toMatchObject(row)
})

test('payments of a loan that was lent without its mortgage leave the mortgage as it was requested', async () => {
  const before = await story.mortgage(4)
  await story.transaction(lent, paid(400n), { kind: 'loan-paid', ...LOAN })

  expect(await story.mortgage(4)).toEqual(before)
})

test('a loan that is sold has the new lender, and keeps the last one when its token is gone', async () => {
  await story.transaction(started, lent)
  await story.transaction({ kind: 'loan-transferred', ...LOAN, to: CAROL })
  await story.transaction({ kind: 'loan-transferred', ...LOAN, to: null })

  expect((await story.mortgage(4)).lender).toBe(CAROL)
})

test('a loan that its lender pardons can be claimed like a paid one', async () => {
  await story.transaction(started, lent)
  await story.transaction({ kind: 'loan-pardoned', ...LOAN })

  expect(await story.mortgage(4)).toMatchObject({ status: 'paid', paid: '0', outstanding_amount: '0' })
})

test('a mortgage whose loan is withdrawn before it starts is pending until it is cancelled', async () => {
  await story.transaction({ kind: 'loan-pardoned', ...LOAN })
  expect((await story.mortgage(4)).status).toBe('pending')

  await story.transaction({ kind: 'mortgage-cancelled', ...MORTGAGE })
  expect(await story.mortgage(4)).toMatchObject({
    status: 'cancelled',
    lender: null,
    is_due_at_s: 0,
    outstanding_amount: '0',
    block_time_updated_at_ms: story.nowMs,
  })
})

test('a defaulted mortgage owes the interest until then, the higher one after it was due', async () => {
  await story.transaction(started, lent)
  const row = await story.mortgage(4)
  const startedMs = story.nowMs - (Number(YEAR_S) + 10) * 1000 + BLOCK_MS
  story.rows.put('mortgage', { ...row, started_at_ms: startedMs })
  await story.transaction({ kind: 'mortgage-defaulted', ...MORTGAGE })

  const debt = 1000 * (1 + Number(YEAR_S) / 1_000_000)
  expect(await story.mortgage(4)).toMatchObject({ status: 'defaulted', lender: BOB })
  expect(Number((await story.mortgage(4)).outstanding_amount)).toBeCloseTo(debt * (1 + 20 / 1_000_000), 6)
})

test('loans that no mortgage names, and numbers beyond all rows, are not ours', async () => {
  await story.transaction(
    { ...lent, loanId: 71n } as LandFact,
    { kind: 'mortgage-started', mortgageId: 2n ** 200n },
    { ...requested, mortgageId: 2n ** 200n } as LandFact,
  )

  expect(story.rows.rowsOf('mortgage')).toHaveLength(1)
})

test('deadlines and lengths beyond all times are cut', async () => {
  const huge = 2n ** 256n - 1n
  await story.transaction({ ...requested, mortgageId: 5n, loanId: 71n } as LandFact, {
    kind: 'loan-terms-read',
    loanId: 71n,
    terms: {
      amountWei: MANA_WEI,
      interestRate: huge,
      punitoryInterestRate: 0n,
      duesInS: huge,
      cancelableAtS: huge,
      expiresAt: huge,
    },
  })
  await story.transaction({ kind: 'mortgage-started', mortgageId: 5n })

  expect(await story.mortgage(5)).toMatchObject({
    interest_rate: 2 ** 53 - 1,
    is_due_at_s: 2 ** 53 - 1,
    payable_at_s: 2 ** 53 - 1,
    expires_at_ms: 2 ** 53 - 1,
    outstanding_amount: '1',
  })
})
