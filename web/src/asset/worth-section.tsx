import type { LandValue } from '@landpass/client'
import { useEffect } from 'preact/hooks'
import type { Answer } from '../live/use-answer.ts'
import { worldGrid } from '../live/world.ts'
import { markedCells } from '../state/explore-state.ts'
import { formatComputedPrice } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { AssetSection } from './asset-section.tsx'
import { Folded } from './folded.tsx'
import { SaleLine, saleKey } from './sale-line.tsx'
import { worthText } from './worth-text.ts'

/** What the asset may be worth by sales near it, and these sales, which are marked on the map too. */
export function WorthSection({ answer }: { readonly answer: Answer<LandValue> }) {
  const sales = answer.data?.basis.sales
  useEffect(() => {
    const grid = worldGrid.peek()
    const cells = (sales ?? []).map(({ x, y }) => (grid && x !== null && y !== null ? grid.cellAt(x, y) : -1))
    markedCells.value = Uint32Array.from(cells.filter((cell) => cell >= 0))
    return () => {
      markedCells.value = new Uint32Array(0)
    }
  }, [sales])
  return (
    <AssetSection title={text('asset.worth')} answer={answer}>
      {({ low, middle, high, offer, basis }) => (
        <>
          {low === null || middle === null || high === null ? (
            <p class="hint">{text('asset.worth.unknown')}</p>
          ) : (
            <>
              <p class="worth-range">
                <strong>
                  {text('asset.worth.range', {
                    low: formatComputedPrice(Number(low)),
                    high: formatComputedPrice(Number(high)),
                  })}
                </strong>{' '}
                <span>{text('asset.worth.middle', { price: formatComputedPrice(Number(middle)) })}</span>
              </p>
              {offer !== null && offer.above_range !== null && <p>{worthText(offer.above_range)}</p>}
            </>
          )}
          <Folded items={basis.sales} none="">
            {(sale) => (
              <SaleLine
                key={saleKey(sale)}
                sale={sale}
                {...(sale.is_own && { title: text('asset.worth.own') })}
              />
            )}
          </Folded>
        </>
      )}
    </AssetSection>
  )
}
