import type { MortgageRecord, MortgageStatus } from '@landpass/server/land/records/mortgage'
import type { Random } from '../random.ts'
import type { Asset } from './assets.ts'
import { blockAt, blockTimeS, DAY_S, iso, PRESENT_S, rowTimes, YEAR_S } from './chain-time.ts'
import type { Listing } from './market.ts'
import { someoneElse } from './stories.ts'
import { centsText } from './values.ts'

interface Draft {
  readonly status: MortgageStatus
  readonly listing: Listing
  readonly borrower: string
  readonly fromS: number
}

/** Where a started loan stands, in seconds and hundredths of a MANA. */
interface Course {
  readonly dueS: number
  readonly updatedS: number
  readonly paidCents: number
  readonly owedCents: number
}

const WHOLE_MONTHS_S = 30 * DAY_S

/** All loans, in order of creation. */
export function loansOf(
  listings: readonly Listing[],
  people: readonly string[],
  random: Random,
): MortgageRecord[] {
  const drafts = draftsOf(random.shuffle([...listings]), people, random)
  drafts.sort((one, other) => one.fromS - other.fromS)
  const created = rowTimes(() => random.between(3000, 60_000))
  let loanId = 100
  return drafts.map((draft, at) => {
    loanId += random.between(1, 9)
    const ids = { loanId, mortgageId: at + 1, createdAt: created(draft.fromS) }
    return recordOf(draft, ids, people, random)
  })
}

function draftsOf(listings: readonly Listing[], people: readonly string[], random: Random): Draft[] {
  const share = (perThousand: number, least: number) =>
    Math.max(least, Math.floor((listings.length * perThousand) / 1000))
  const onParcels = listings.filter(({ asset }) => asset.type === 'parcel')
  const sold = onParcels.filter(({ deal }) => deal?.kind === 'sold')
  const kept = sold.filter((listing) => isKept(listing))
  const drafts: Draft[] = []
  const used = new Set<Listing>()
  const started = (status: MortgageStatus, from: readonly Listing[], count: number) => {
    for (const listing of from.filter((one) => !used.has(one)).slice(0, count)) {
      used.add(listing)
      drafts.push({ status, listing, borrower: listing.deal!.buyer!, fromS: requestS(listing, random) })
    }
  }
  started('defaulted', kept.filter(isOld), share(6, 1))
  started('paid', kept, share(6, 1))
  started('ongoing', kept, share(7, 2))
  started('claimed', sold, share(10, 1))
  const alive = onParcels.filter(({ deal, expiresS }) => !deal && expiresS > PRESENT_S)
  const asked = (status: MortgageStatus, from: readonly Listing[], count: number) => {
    for (const listing of from.slice(0, count)) {
      const borrower = someoneElse(listing.record.owner, people, random)
      drafts.push({ status, listing, borrower, fromS: requestS(listing, random) })
    }
  }
  asked('pending', alive, share(6, 2))
  asked('cancelled', random.shuffle(onParcels.filter(({ deal }) => deal)), share(22, 2))
  return drafts
}

/** The buyer still has the parcel. */
function isKept({ asset, deal }: Listing): boolean {
  return asset.estateId === undefined && deal?.toS === asset.lastChangeS
}

/** Sold long enough ago that a loan for it can have gone wrong. */
function isOld({ deal }: Listing): boolean {
  return deal !== undefined && deal.toS < PRESENT_S - YEAR_S
}

/** A time at which the parcel was on offer. */
function requestS({ fromS, deal }: Listing, random: Random): number {
  return blockTimeS(random.between(fromS + 30, (deal?.toS ?? PRESENT_S - DAY_S) - 30))
}

function recordOf(
  { status, listing, borrower, fromS }: Draft,
  ids: { loanId: number; mortgageId: number; createdAt: string },
  people: readonly string[],
  random: Random,
): MortgageRecord {
  const isStarted = status !== 'pending' && status !== 'cancelled'
  const amountCents = Math.max(100, Math.floor((listing.whole * 100 * random.between(20, 90)) / 100))
  const roundCents = random.chance(70) ? Math.max(100, amountCents - (amountCents % 100)) : amountCents
  const startedS = isStarted ? listing.deal!.toS : undefined
  const payableS = random.between(1, 12) * 9 * DAY_S
  const course = courseOf(status, { startedS, fromS, payableS, amountCents: roundCents }, random)
  const percent = random.between(8, 50)
  return {
    tx_hash: random.hash(),
    tx_status: 'confirmed',
    block_number: blockAt(fromS),
    status,
    asset_id: listing.asset.id,
    asset_type: 'parcel',
    borrower,
    lender: isStarted ? lenderFor(borrower, listing.asset, people, random) : null,
    loan_id: ids.loanId,
    mortgage_id: ids.mortgageId,
    amount: centsText(roundCents),
    is_due_at: String(course.dueS),
    expires_at: String(requestEndS(status, listing, fromS, random) * 1000),
    block_time_created_at: String(fromS * 1000),
    block_time_updated_at: status === 'pending' ? null : String(course.updatedS * 1000),
    created_at: ids.createdAt,
    updated_at:
      status === 'pending' ? ids.createdAt : iso(course.updatedS * 1000 + random.between(60_100, 90_000)),
    outstanding_amount: centsText(course.owedCents),
    payable_at: String(payableS),
    interest_rate: rate(percent),
    punitory_interest_rate: rate(percent + random.between(2, 20)),
    paid: centsText(course.paidCents),
    started_at: startedS === undefined ? null : String(startedS * 1000),
  }
}

/** The rate in the unit of the loan contract, where a smaller number is a higher rate. */
function rate(yearlyPercent: number): number {
  return Math.floor(10_000_000 / yearlyPercent) * 31_104_000
}

function lenderFor(borrower: string, asset: Asset, people: readonly string[], random: Random): string {
  for (;;) {
    const lender = someoneElse(borrower, people, random)
    if (lender !== asset.owner) return lender
  }
}

/** The end of a request: after the sale it paid for, and for most pending ones far away. */
function requestEndS(status: MortgageStatus, { deal }: Listing, fromS: number, random: Random): number {
  const isAlive = status === 'pending' && random.chance(65)
  const fromDayS = status === 'pending' ? fromS : deal!.toS
  const endS = isAlive
    ? PRESENT_S + random.between(800, 1800) * DAY_S
    : fromDayS + random.between(2, 60) * DAY_S
  return endS - (endS % DAY_S)
}

function courseOf(
  status: MortgageStatus,
  loan: { startedS: number | undefined; fromS: number; payableS: number; amountCents: number },
  random: Random,
): Course {
  const { startedS, fromS, payableS, amountCents } = loan
  if (startedS === undefined) {
    const updatedS = blockTimeS(random.between(fromS + 30, Math.min(fromS + 60 * DAY_S, PRESENT_S - 3600)))
    return { dueS: 0, updatedS, paidCents: 0, owedCents: 0 }
  }
  const termS = payableS + random.between(1, 18) * WHOLE_MONTHS_S
  const withInterestCents = amountCents + Math.floor((amountCents * random.between(1, 40)) / 100)
  const part = Math.floor((withInterestCents * random.between(0, 70)) / 100)
  const laterS = (fromTimeS: number, spanS: number) =>
    blockTimeS(Math.min(fromTimeS + random.between(60, spanS), PRESENT_S - 3600))
  if (status === 'ongoing') {
    // Some are past due; the others are due in the coming years.
    const dueS = random.chance(25) ? startedS + termS : PRESENT_S + random.between(300, 1800) * DAY_S
    const isTouched = random.chance(50)
    const updatedS = isTouched ? laterS(startedS, payableS) : startedS
    return {
      dueS,
      updatedS,
      paidCents: isTouched ? part : 0,
      owedCents: withInterestCents - (isTouched ? part : 0),
    }
  }
  if (status === 'defaulted') {
    const dueS = startedS + Math.min(termS, 300 * DAY_S)
    return { dueS, updatedS: laterS(dueS, 30 * DAY_S), paidCents: part, owedCents: withInterestCents - part }
  }
  const updatedS = laterS(startedS, payableS)
  return { dueS: startedS + termS, updatedS, paidCents: withInterestCents, owedCents: 0 }
}
