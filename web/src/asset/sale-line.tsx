import type { Sale } from '@landpass/client'
import { showAsset } from '../state/travel.ts'
import { formatAgo, formatComputedPrice, formatDate, formatPrice } from '../texts/format.ts'
import { text } from '../texts/texts.ts'

export interface SaleLineProps {
  readonly sale: Sale
  /** Its name in place of what was sold. */
  readonly title?: string
}

/** A sale in two lines; a press selects what was sold. */
export function SaleLine({ sale, title }: SaleLineProps) {
  const { asset_type: type, asset_id: id, price, price_per_parcel: perParcel, size, time } = sale
  const kind = text(type === 'parcel' ? 'asset.parcel.numbered' : 'asset.estate.numbered', { id })
  const facts = [
    whenText(time),
    size !== null && size > 1 && text('map.parcels', { count: size }),
    size !== 1 &&
      perParcel !== null &&
      text('list.per_parcel', { price: formatComputedPrice(Number(perParcel)) }),
  ]
  return (
    <li>
      <button type="button" class="quiet sale-line" onClick={() => showAsset(type, id)}>
        <span>{title ?? kind}</span>
        <strong>{formatPrice(Number(price))}</strong>
        <span class="hint">{facts.filter(Boolean).join(' · ')}</span>
      </button>
    </li>
  )
}

const DAY_MS = 86_400_000

/** How long ago, within a day; else the day. */
function whenText(timeMs: number): string {
  const agoMs = Date.now() - timeMs
  return agoMs >= 0 && agoMs < DAY_MS ? formatAgo(agoMs / 1_000) : formatDate(timeMs)
}

/** Identifies a sale among others. */
export function saleKey({ asset_id, time, price }: Sale): string {
  return `${asset_id} ${time} ${price}`
}
