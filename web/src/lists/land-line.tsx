import type { LandRow } from '@landpass/client'
import { landTexts } from '../asset/land-texts.ts'
import { showAsset } from '../state/travel.ts'
import { formatOffer } from '../texts/format.ts'
import { text } from '../texts/texts.ts'

/** Two lines of a parcel or an estate: name and price, then what it is. */
export function LandLine({ row }: { readonly row: LandRow }) {
  const { asset_type: type, asset_id: id, offer } = row
  const { title, facts } = landTexts(row)
  return (
    <li>
      <button type="button" onClick={() => showAsset(type, id)}>
        <bdi class="list-asset-name">{title}</bdi>
        <span class={offer ? 'land-price' : 'land-price none'}>
          {offer ? formatOffer(offer) : text('asset.sale.none')}
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
