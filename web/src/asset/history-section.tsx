import type { Publication } from '@landpass/client'
import type { Answer } from '../live/use-answer.ts'
import { formatDate, formatPrice, shortAddress } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { AssetSection } from './asset-section.tsx'
import { offerState } from './offer-state.ts'
import { offerStateText } from './offer-texts.ts'
import { PriceChart } from './price-chart.tsx'
import { Transaction } from './transaction.tsx'

/** All sale offers of the asset, open and closed, as a chart and as a table. */
export function HistorySection({ answer }: { readonly answer: Answer<readonly Publication[]> }) {
  return (
    <AssetSection title={text('publication.history')} answer={answer}>
      {(publications) =>
        publications.length === 0 ? (
          <p class="hint">{text('publication.none')}</p>
        ) : (
          <History publications={publications} />
        )
      }
    </AssetSection>
  )
}

function History({ publications }: { readonly publications: readonly Publication[] }) {
  const nowMs = Date.now()
  return (
    <>
      <PriceChart
        points={publications.map((offer) => ({
          timeMs: offer.block_time_created_at,
          price: offer.price,
          state: offerState(offer, nowMs),
        }))}
      />
      <details>
        <summary>{text('publication.table')}</summary>
        <HistoryTable publications={publications} nowMs={nowMs} />
      </details>
    </>
  )
}

interface HistoryTableProps {
  readonly publications: readonly Publication[]
  readonly nowMs: number
}

function HistoryTable({ publications, nowMs }: HistoryTableProps) {
  return (
    <table class="history-table">
      <thead>
        <tr>
          <th scope="col">{text('publication.offered')}</th>
          <th scope="col" class="number">
            {text('publication.price')}
          </th>
          <th scope="col">{text('publication.status')}</th>
        </tr>
      </thead>
      <tbody>
        {publications.map((offer, i) => (
          // The key is the index: one transaction can make several offers, and contract ids are not unique.
          <tr key={i}>
            <td>
              {/* No transaction made an offer that was signed off the chain. */}
              <Transaction hash={offer.trade_id ? null : offer.tx_hash}>
                {formatDate(offer.block_time_created_at)}
              </Transaction>
            </td>
            <td class="number">{formatPrice(offer.price)}</td>
            <td>
              <Transaction hash={offer.status === 'open' ? null : offer.closed_tx_hash}>
                {offerStateText(offerState(offer, nowMs))}
              </Transaction>
              {offer.buyer !== null && <Buyer address={offer.buyer} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Buyer({ address }: { readonly address: string }) {
  return (
    <span class="history-buyer" title={address}>
      {text('publication.sold_to', { buyer: shortAddress(address) })}
    </span>
  )
}
