import type { LandRow } from '@landpass/client'
import { landTexts } from '../asset/land-texts.ts'
import { showAsset } from '../state/travel.ts'
import { text } from '../texts/texts.ts'

export interface LandLineProps {
  readonly row: LandRow
  /** What stands beside the name of land that is for sale and for rent. */
  readonly first?: 'sale' | 'rent'
}

/** Two lines of a parcel or an estate: name and price, then what it is. */
export function LandLine({ row, first }: LandLineProps) {
  const { asset_type: type, asset_id: id } = row
  const { title, price, facts } = landTexts(row, first)
  return (
    <li>
      <button type="button" onClick={() => showAsset(type, id)}>
        <bdi class="list-asset-name">{title}</bdi>
        <span class={price === undefined ? 'land-price none' : 'land-price'}>
          {price ?? text('asset.sale.none')}
        </span>
        <span class="land-facts">
          {facts.map((fact, i) => (
            <span key={fact} class="land-fact">
              {i > 0 && ' · '}
              {fact}
            </span>
          ))}
        </span>
      </button>
    </li>
  )
}
