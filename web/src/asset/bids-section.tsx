import type { Bid } from '@landpass/client'
import type { Answer } from '../live/use-answer.ts'
import { formatDate, formatPrice } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { Address } from './address.tsx'
import { AssetSection } from './asset-section.tsx'
import { Fact, Facts } from './facts.tsx'
import { Folded } from './folded.tsx'
import { offerState } from './offer-state.ts'
import { bidStateText } from './offer-texts.ts'
import { Transaction } from './transaction.tsx'

export function BidsSection({ answer }: { readonly answer: Answer<readonly Bid[]> }) {
  return (
    <AssetSection title={text('bid.title')} answer={answer}>
      {(bids) => (
        <Folded items={bids} none={text('bid.none')}>
          {(bid) => <BidCard key={bid.id} bid={bid} />}
        </Folded>
      )}
    </AssetSection>
  )
}

function BidCard({ bid }: { readonly bid: Bid }) {
  const state = offerState(bid, Date.now())
  return (
    <li class="deal">
      <p class="deal-head">
        <strong>{formatPrice(bid.price)}</strong>
        <span class={`badge badge-${state}`}>{bidStateText(state)}</span>
      </p>
      <Facts>
        <Fact name={text('bid.bidder')}>
          <Address address={bid.bidder} />
        </Fact>
        <Fact name={text('bid.made')}>
          <Transaction hash={bid.tx_hash}>{formatDate(bid.block_time_created_at)}</Transaction>
        </Fact>
        <Fact name={text('bid.expires')}>{formatDate(bid.expires_at)}</Fact>
      </Facts>
    </li>
  )
}
