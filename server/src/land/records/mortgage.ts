import { ASSET_TYPES, type AssetType } from './assets.ts'
import * as is from './checks.ts'
import {
  address,
  assetId,
  choice,
  deadlineMsDigits,
  hash,
  integer,
  isoTime,
  money,
  optional,
  orNull,
  secondsDigits,
  timeMsDigits,
  timeSecondsDigits,
  word,
} from './fields.ts'
import { defineRecord, type Line, type Row } from './record.ts'

export const MORTGAGE_STATUSES = ['pending', 'cancelled', 'ongoing', 'paid', 'defaulted', 'claimed'] as const
export type MortgageStatus = (typeof MORTGAGE_STATUSES)[number]

const rate = () => integer(is.isSafeInteger, 'A smaller number is a higher rate.')

export const MORTGAGE = defineRecord({
  description: 'A loan for buying a parcel.',
  fields: {
    tx_hash: hash(),
    tx_status: word(is.oneOf('confirmed')),
    block_number: integer(is.isSafeInteger, 'Block of creation.'),
    status: choice<MortgageStatus>(is.oneOf(...MORTGAGE_STATUSES), MORTGAGE_STATUSES),
    asset_id: assetId(),
    asset_type: choice<AssetType>(is.oneOf('parcel'), ASSET_TYPES, 'AssetType'),
    borrower: address(),
    lender: orNull(address()),
    loan_id: integer(is.isSafeInteger),
    mortgage_id: integer(is.isSafeInteger),
    /** 0 where a chain did not tell the terms of the loan. */
    amount: money(),
    /** 0 if the loan never started. The loan contract counts in seconds. */
    is_due_at: timeSecondsDigits(),
    expires_at: deadlineMsDigits(),
    block_time_created_at: timeMsDigits(),
    block_time_updated_at: orNull(timeMsDigits()),
    created_at: isoTime(),
    updated_at: isoTime(),
    outstanding_amount: money(),
    /** A length of time, not a date. */
    payable_at: secondsDigits(),
    interest_rate: rate(),
    punitory_interest_rate: rate(),
    paid: money(),
    started_at: orNull(timeMsDigits()),
    /** Position in its block of the log that made it. */
    log_index: optional(integer(is.isCount)),
    /** Length of the loan from its start. The terms of a loan never change; null where they were not read yet. */
    due_in: optional(secondsDigits()),
  },
  places: {
    /** Our own number, in order of creation. */
    key: (_record, index) => index + 1,
  },
  derived: {},
  answer: [
    'tx_hash',
    'tx_status',
    'block_number',
    'status',
    'asset_id',
    'asset_type',
    'borrower',
    'lender',
    'loan_id',
    'mortgage_id',
    'amount',
    'is_due_at',
    'expires_at',
    'block_time_created_at',
    'block_time_updated_at',
    'created_at',
    'updated_at',
    'outstanding_amount',
    'payable_at',
    'interest_rate',
    'punitory_interest_rate',
    'paid',
    'started_at',
  ],
  notAnswered: ['log_index', 'due_in'],
})

export interface MortgageTable extends Row<typeof MORTGAGE> {}
/** A mortgage as it stands on a line of a snapshot. */
export interface MortgageRecord extends Line<typeof MORTGAGE> {}

/** A mortgage as it is answered (docs/land.md, Mortgage). `is_due_at` and `payable_at` are seconds. */
export const mortgageJson = MORTGAGE.json
