import { type LandRow, land } from '@landpass/client'
import { effect, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { landTexts } from '../asset/land-texts.ts'
import { worthText } from '../asset/worth-text.ts'
import { useAnswer } from '../live/use-answer.ts'
import { worldGrid } from '../live/world.ts'
import type { Pointed } from '../map/map-parts.ts'
import type { Place } from '../map/map-types.ts'
import { selection, view } from '../state/explore-state.ts'
import { selectedCells } from '../state/selected-cells.ts'
import { formatDate, formatPrice, shortAddress } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import './place-card.css'
import { placeDescription } from './place-description.ts'

/** The card comes after this pause: it does not flicker, and asks nothing, while the pointer passes over land. */
const PAUSE_MS = 250
/** Between the pointer and the card, in CSS pixels. */
const SPACE_PX = 16

const pointed = signal<Pointed | undefined>(undefined)
/** Whether the pause is over. */
const isShown = signal(false)
let pause: number | undefined

/** The reader points at a parcel, or at none any more. */
export function point(next: Pointed | undefined): void {
  const before = pointed.peek()
  pointed.value = next
  if (isShown.peek() && before && next && isSameAsset(before.place, next.place)) return
  window.clearTimeout(pause)
  isShown.value = false
  if (next)
    pause = window.setTimeout(() => {
      isShown.value = true
    }, PAUSE_MS)
}

function isSameAsset(a: Place, b: Place): boolean {
  const grid = worldGrid.peek()
  const estate = grid?.tileAt(a.x, a.y).estate
  return (a.x === b.x && a.y === b.y) || (estate !== undefined && estate === grid?.tileAt(b.x, b.y).estate)
}

/** What the parcel is that the mouse rests on, the arrow keys have reached, or a finger rests on. It takes no clicks. */
export function PlaceCard() {
  useEffect(
    // Below the resting pointer is other land when the map moves.
    () => {
      let last = view.peek()
      return effect(() => {
        const moved = view.value !== last
        last = view.value
        if (moved && pointed.peek()?.by === 'pointer') point(undefined)
      })
    },
    [],
  )
  const at = pointed.value
  const grid = worldGrid.value
  if (!at || !isShown.value || !grid) return null
  const cell = grid.cellAt(at.place.x, at.place.y)
  if (cell < 0 || selectedCells(grid, selection.value).includes(cell)) return null
  const { estate } = grid.tileAt(at.place.x, at.place.y)
  return (
    <div class="place-card card" style={besideOf(at)} role={at.by === 'key' ? 'status' : undefined}>
      <Content key={estate ?? `${at.place.x},${at.place.y}`} place={at.place} />
    </div>
  )
}

/** Next to the spot, on the side where there is more room. */
function besideOf({ spot: { xPx, yPx } }: Pointed): Readonly<Record<string, string>> {
  const map = document.querySelector('.explore-map')?.getBoundingClientRect()
  const [width, height] = [map?.width ?? 0, map?.height ?? 0]
  return {
    ...(xPx < width / 2 ? { '--left': `${xPx + SPACE_PX}px` } : { '--right': `${width - xPx + SPACE_PX}px` }),
    ...(yPx < height / 2
      ? { '--top': `${yPx + SPACE_PX}px` }
      : { '--bottom': `${height - yPx + SPACE_PX}px` }),
  }
}

function Content({ place }: { readonly place: Place }) {
  const { data } = useAnswer(land.findLand({ center: place, radius: 0, limit: 1 }))
  const row = data?.land[0]
  const grid = worldGrid.value
  if (!row) return <p>{grid && placeDescription(grid, place)}</p>
  const type = grid?.tileAt(place.x, place.y).type
  const { title, price, facts } = landTexts(row)
  return (
    <>
      <p class="place-card-title">
        <bdi>{title}</bdi>
      </p>
      {type && GROUNDS[type] && <p>{text(GROUNDS[type])}</p>}
      {price !== undefined && <p class="place-card-price">{price}</p>}
      {row.offer && <Offer row={row} offer={row.offer} />}
      <p class="place-card-facts">{facts.join(' · ')}</p>
      <Deeds row={row} />
    </>
  )
}

/** What a parcel is besides land of an owner. */
const GROUNDS: Readonly<
  Partial<Record<string, 'asset.plaza' | 'asset.road' | 'asset.district_land' | 'asset.unowned'>>
> = {
  plaza: 'asset.plaza',
  road: 'asset.road',
  district: 'asset.district_land',
  unowned: 'asset.unowned',
}

function Offer({ row, offer }: { readonly row: LandRow; readonly offer: NonNullable<LandRow['offer']> }) {
  const worth = useAnswer<{ readonly offer: { readonly above_range: number | null } | null }>(
    row.asset_type === 'estate' ? land.estateValue(row.asset_id) : land.parcelValue(row),
  )
  const above = worth.data?.offer?.above_range ?? undefined
  return (
    <>
      {above !== undefined && <p>{worthText(above)}</p>}
      <p class="place-card-facts">{text('card.until', { date: formatDate(offer.expires_at) })}</p>
    </>
  )
}

/** Whose it is, who rents it, and what it was sold for. */
function Deeds({ row: { owner, rent, last_sale: sale } }: { readonly row: LandRow }) {
  const lines = [
    owner !== null && text('filter.is', { name: text('asset.owner'), value: shortAddress(owner) }),
    rent && text('asset.rented', { date: formatDate(rent.rented_until) }),
    sale && text('card.sold', { price: formatPrice(Number(sale.price)), date: formatDate(sale.time) }),
  ]
  return (
    <>
      {lines.map(
        (line) =>
          line && (
            <p key={line} class="place-card-facts">
              {line}
            </p>
          ),
      )}
    </>
  )
}
