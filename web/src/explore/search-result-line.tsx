import type { SearchResult } from '@landpass/client'
import { findName } from '../asset/asset-names.ts'
import { formatNumber, shortAddress } from '../texts/format.ts'
import { type TextKey, text } from '../texts/texts.ts'

const KINDS: Readonly<Record<SearchResult['type'], TextKey>> = {
  parcel: 'asset.parcel',
  estate: 'asset.estate',
  district: 'asset.district',
  address: 'map.search.address',
}

/** What a result is, in one line: its name or place, of which kind it is, and how large. */
export function SearchResultLine({ result }: { readonly result: SearchResult }) {
  const { type, id, name, parcels, estates } = result
  return (
    <>
      <bdi class="search-name" title={type === 'address' ? id : undefined}>
        {findName(name ?? '') ?? nameless(result)}
      </bdi>{' '}
      <span class="search-kind">{text(KINDS[type])}</span>{' '}
      <span class="search-facts">
        {type === 'parcel' && name !== null && id}
        {type === 'estate' && name !== null && `#${id} `}
        {type !== 'parcel' && text('map.parcels', { count: formatNumber(parcels) })}
        {estates !== null && ` ${text('map.estates', { count: formatNumber(estates) })}`}
      </span>
    </>
  )
}

function nameless({ type, id }: SearchResult): string {
  if (type === 'estate') return `#${id}`
  return type === 'address' ? shortAddress(id) : id
}
