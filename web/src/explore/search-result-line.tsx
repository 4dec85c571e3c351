import { findName } from '../asset/asset-names.ts'
import { groundText } from '../asset/ground-text.ts'
import { formatNumber, shortAddress } from '../texts/format.ts'
import { type TextKey, text } from '../texts/texts.ts'
import type { Found } from './search-results.ts'

const KINDS: Readonly<Record<Exclude<Found['type'], 'parcel'>, TextKey>> = {
  plaza: 'asset.plaza',
  estate: 'asset.estate',
  district: 'asset.district',
  address: 'map.search.address',
}

/** What a result is, in one line: its name or place, of which kind it is, and how large. */
export function SearchResultLine({ result }: { readonly result: Found }) {
  const { type, id, name, parcels, estates } = result
  return (
    <>
      <bdi class="search-name" title={type === 'address' ? id : undefined}>
        {findName(name ?? '') ?? nameless(result)}
      </bdi>{' '}
      <span class="search-kind">{kindText(result)}</span>{' '}
      <span class="search-facts">
        {type === 'parcel' && name !== null && id}
        {type === 'estate' && name !== null && `#${id} `}
        {type !== 'parcel' && text('map.parcels', { count: formatNumber(parcels) })}
        {type === 'plaza' && ` · ${text('map.search.away', { count: formatNumber(result.distance) })}`}
        {estates !== null && ` ${text('map.estates', { count: formatNumber(estates) })}`}
      </span>
    </>
  )
}

/** What a parcel is follows from the ground: road, plaza, land of a district. */
function kindText({ type, x, y }: Found): string {
  if (type !== 'parcel') return text(KINDS[type])
  return x === null || y === null ? text('asset.parcel') : groundText({ x, y })
}

function nameless({ type, id }: Found): string {
  if (type === 'estate') return `#${id}`
  return type === 'address' ? shortAddress(id) : id
}
