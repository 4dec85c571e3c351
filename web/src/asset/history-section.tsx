import type { Publication } from '@landpass/client'
import type { Answer } from '../live/use-answer.ts'
import { formatDate, formatOffer, shortAddress } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { Failure } from '../ui/notice.tsx'
import { AssetSection } from './asset-section.tsx'
import { type HistoryRow, historyRows } from './history-rows.ts'
import { offerStateText, refusalText } from './offer-texts.ts'
import { PriceChart } from './price-chart.tsx'
import { Transaction } from './transaction.tsx'

export interface HistorySectionProps {
  /** The publications of the asset. */
  readonly answer: Answer<readonly Publication[]>
  /** Its offers that can be accepted, and those that cannot. */
  readonly offers: Answer<readonly Publication[]>
}

/** All sale offers of the asset, open and closed, as a chart and as a table, and why some cannot be accepted. */
export function HistorySection({ answer, offers }: HistorySectionProps) {
  return (
    <AssetSection title={text('publication.history')} answer={answer}>
      {(publications) => (
        <>
          {offers.error !== undefined && <Failure error={offers.error} onRetry={offers.retry} />}
          <History rows={historyRows(publications, offers.data ?? [], Date.now())} />
        </>
      )}
    </AssetSection>
  )
}

function History({ rows }: { readonly rows: readonly HistoryRow[] }) {
  if (rows.length === 0) return <p class="hint">{text('publication.none')}</p>
  const points = rows.flatMap(({ offer, state, price }) =>
    price === undefined ? [] : [{ timeMs: offer.block_time_created_at, price, state }],
  )
  if (points.length === 0) return <HistoryTable rows={rows} />
  return (
    <>
      <PriceChart points={points} />
      <details>
        <summary>{text('publication.table')}</summary>
        <HistoryTable rows={rows} />
      </details>
    </>
  )
}

function HistoryTable({ rows }: { readonly rows: readonly HistoryRow[] }) {
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
        {rows.map(({ offer, state }, i) => (
          // The key is the index: one transaction can make several offers, and contract ids are not unique.
          <tr key={i}>
            <td>
              {/* No transaction made an offer that was signed off the chain. */}
              <Transaction hash={offer.trade_id ? null : offer.tx_hash}>
                {formatDate(offer.block_time_created_at)}
              </Transaction>
            </td>
            <td class="number">{formatOffer(offer)}</td>
            <td>
              <Transaction hash={offer.status === 'open' ? null : offer.closed_tx_hash}>
                {offerStateText(state)}
              </Transaction>
              {state === 'refused' && <span class="history-more">{refusalText(offer)}</span>}
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
    <span class="history-more" title={address}>
      {text('publication.sold_to', { buyer: shortAddress(address) })}
    </span>
  )
}
