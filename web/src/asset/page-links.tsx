import { type AssetType, land } from '@landpass/client'
import { useAnswer } from '../live/use-answer.ts'
import type { Place } from '../map/map-types.ts'
import { text } from '../texts/texts.ts'

export interface PageLinksProps {
  readonly type: AssetType
  /** The place of the parcel, or one of the estate. */
  readonly place: Place
}

/** Links to other sites for the asset, where the operator has set their addresses: to visit it, and to buy it or bid for it. */
export function PageLinks({ type, place }: PageLinksProps) {
  const { visitUrl, marketUrl } = document.documentElement.dataset
  const query = { center: place, radius: 0, asset_type: type, inside_estates: true, limit: 1 } as const
  const row = useAnswer(marketUrl ? land.findLand(query) : undefined).data?.land[0]
  if (!visitUrl && !row) return null
  return (
    <p class="row page-links">
      {visitUrl && (
        <OutwardLink
          href={filled(visitUrl, { x: `${place.x}`, y: `${place.y}` })}
          label={text('asset.visit')}
        />
      )}
      {marketUrl && row && (
        <OutwardLink
          href={filled(marketUrl, { contract: row.contract, token_id: row.token_id })}
          label={text(row.offer ? 'asset.buy' : 'asset.make_bid')}
        />
      )}
    </p>
  )
}

function OutwardLink({ href, label }: { readonly href: string; readonly label: string }) {
  return (
    <a class="outward" href={href} target="_blank" rel="noreferrer">
      {label}
    </a>
  )
}

/** @example filled('https://game.example/?at={x},{y}', { x: '1', y: '-2' }) // 'https://game.example/?at=1,-2' */
export function filled(address: string, values: Readonly<Record<string, string>>): string {
  return address.replace(/\{(\w+)\}/g, (mark, name: string) => values[name] ?? mark)
}
