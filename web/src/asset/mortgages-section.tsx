import type { Mortgage } from '@landpass/client'
import type { Answer } from '../live/use-answer.ts'
import { formatDate, formatNumber, formatPrice } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { Address } from './address.tsx'
import { AssetSection } from './asset-section.tsx'
import { Fact, Facts } from './facts.tsx'
import { Folded } from './folded.tsx'
import { yearlyInterest } from './loan-rates.ts'
import { Transaction } from './transaction.tsx'

const SECOND_MS = 1000

export function MortgagesSection({ answer }: { readonly answer: Answer<readonly Mortgage[]> }) {
  return (
    <AssetSection title={text('mortgage.title')} answer={answer}>
      {(mortgages) => (
        <Folded items={mortgages} none={text('mortgage.none')}>
          {(mortgage) => <MortgageCard key={mortgage.mortgage_id} mortgage={mortgage} />}
        </Folded>
      )}
    </AssetSection>
  )
}

function MortgageCard({ mortgage }: { readonly mortgage: Mortgage }) {
  const { status, amount, lender, borrower } = mortgage
  return (
    <li class="deal">
      <p class="deal-head">
        <strong>{formatPrice(amount)}</strong>
        <span class={`badge badge-${status}`}>{text(`mortgage.status.${status}`)}</span>
      </p>
      <Facts>
        <Fact name={text('mortgage.requested')}>
          <Transaction hash={mortgage.tx_hash}>{formatDate(mortgage.block_time_created_at)}</Transaction>
        </Fact>
        <Fact name={text('mortgage.borrower')}>
          <Address address={borrower} />
        </Fact>
        {lender !== null && (
          <Fact name={text('mortgage.lender')}>
            <Address address={lender} />
          </Fact>
        )}
        <Fact name={text('mortgage.outstanding')}>{formatPrice(mortgage.outstanding_amount)}</Fact>
        <Fact name={text('mortgage.interest')}>{percent(mortgage.interest_rate)}</Fact>
        <Fact name={text('mortgage.late_interest')}>{percent(mortgage.punitory_interest_rate)}</Fact>
        <MortgageDates mortgage={mortgage} />
      </Facts>
    </li>
  )
}

/** A loan that never started is an offer, which ends; one that did has to be paid back. */
function MortgageDates({ mortgage: { started_at, is_due_at, expires_at } }: { readonly mortgage: Mortgage }) {
  if (started_at === null) return <Fact name={text('mortgage.offer_ends')}>{formatDate(expires_at)}</Fact>
  return (
    <>
      <Fact name={text('mortgage.started')}>{formatDate(started_at)}</Fact>
      <Fact name={text('mortgage.due')}>{formatDate(Number(is_due_at) * SECOND_MS)}</Fact>
    </>
  )
}

function percent(rate: number): string {
  return formatNumber(yearlyInterest(rate), { style: 'percent', maximumFractionDigits: 2 })
}
