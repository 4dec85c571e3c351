import type { Bounds } from './camera.ts'
import type { Place } from './map-types.ts'

/** A name that the map may show. */
export interface MapLabel {
  readonly text: string
  readonly kind: 'district' | 'plaza' | 'estate'
  /** The middle of its land. */
  readonly place: Place
  /** How many parcels its land has: larger land is named first. */
  readonly size: number
}

/** In CSS pixels from the north-west corner of the world. */
export interface Box {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

export interface PlacedLabel extends Box {
  readonly label: MapLabel
}

export interface PlacementOptions {
  /** CSS pixels a parcel. */
  readonly zoom: number
  readonly bounds: Bounds
  /** The size of a label on the screen, in CSS pixels. */
  measure(label: MapLabel): { readonly width: number; readonly height: number }
}

/** Free space around each label, in CSS pixels. */
const SPACE_PX = 3
/** A name may be so many times as wide as its land: land is as wide as a square of its parcels. */
const MOST_BEYOND: Readonly<Record<MapLabel['kind'], number>> = { district: 1.5, plaza: 2.5, estate: 1.2 }

/** No name is measured for land with less room, in CSS pixels: measuring all names takes longer than painting the map. */
const LEAST_NAME_PX = 24

/**
 * Which names a zoom shows, and where: the largest land first, each name in the middle of its land, and none over another. Names
 * wider than their land are left out. The result depends on the zoom alone, not on the part of the world that is on the screen, so
 * no name comes or goes while the map is moved.
 */
export function placeLabels(
  labels: readonly MapLabel[],
  { zoom, bounds, measure }: PlacementOptions,
): readonly PlacedLabel[] {
  const placed: PlacedLabel[] = []
  for (const label of labels.toSorted(byImportance)) {
    const most = MOST_BEYOND[label.kind] * Math.sqrt(label.size) * zoom
    if (most < LEAST_NAME_PX) continue
    const { width, height } = measure(label)
    if (width > most) continue
    const left = (label.place.x - bounds.minX + 0.5) * zoom - width / 2
    const top = (bounds.maxY - label.place.y + 0.5) * zoom - height / 2
    const box = { left, top, width, height }
    if (!placed.some((other) => areOverlapping(box, other, SPACE_PX))) placed.push({ label, ...box })
  }
  return placed
}

/** @param space the least distance, in CSS pixels */
export function areOverlapping(a: Box, b: Box, space = 0): boolean {
  return (
    a.left < b.left + b.width + space &&
    b.left < a.left + a.width + space &&
    a.top < b.top + b.height + space &&
    b.top < a.top + a.height + space
  )
}

/** A total order: equally large land by kind, place and name. */
function byImportance(a: MapLabel, b: MapLabel): number {
  return (
    b.size - a.size ||
    a.kind.localeCompare(b.kind, 'en') ||
    a.place.x - b.place.x ||
    b.place.y - a.place.y ||
    (a.text < b.text ? -1 : Number(a.text > b.text))
  )
}

/** Between two coordinates on the edge of the map, in CSS pixels. */
const LEAST_TICK_PX = 64

/**
 * The coordinates that the edge of the map has: multiples of 1, 2 or 5 times a power of ten, at least {@link LEAST_TICK_PX} apart.
 *
 * @example
 * edgeTicks(-12, 13, 10) // [-10, 0, 10]
 */
export function edgeTicks(from: number, to: number, zoom: number): readonly number[] {
  const least = LEAST_TICK_PX / zoom
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)))
  const step = [1, 2, 5, 10].map((times) => times * power).find((length) => length >= least) ?? power
  const first = Math.ceil(from / step)
  const count = Math.max(0, Math.floor(to / step) - first + 1)
  return Array.from({ length: count }, (_, i) => (first + i) * step)
}
