import { signal } from '@preact/signals'

/** How much of an upright phone's screen the panel takes, from the lowest to the highest. */
export const SHEET_HEIGHTS = ['low', 'half', 'full'] as const
export type SheetHeight = (typeof SHEET_HEIGHTS)[number]

export const sheetHeight = signal<SheetHeight>('half')

/** A drag up to this distance, in CSS pixels, is a tap. */
export const TAP_PX = 6
/** From this distance on, in CSS pixels, a drag leads to another height, even where the old one is nearer. */
const STEP_PX = 48

/** The next height above (1) or below (-1): the same at either end. */
export function heightBeside(height: SheetHeight, direction: 1 | -1): SheetHeight {
  return SHEET_HEIGHTS[SHEET_HEIGHTS.indexOf(height) + direction] ?? height
}

/** The height that a press of the button leads to: half, full, low, half … */
export function heightAfter(height: SheetHeight): SheetHeight {
  return SHEET_HEIGHTS[(SHEET_HEIGHTS.indexOf(height) + 1) % SHEET_HEIGHTS.length] ?? height
}

/**
 * The height at which a sheet comes to rest when it is let go.
 *
 * @param from where the drag began
 * @param endPx how high the sheet is now, in CSS pixels
 * @param heightsPx how high it is at each of its heights, ascending
 *
 * @example
 * heightAfterDrag('half', 450, { low: 100, half: 380, full: 700 }) // 'full': dragged upwards by more than a finger's width
 */
export function heightAfterDrag(
  from: SheetHeight,
  endPx: number,
  heightsPx: Readonly<Record<SheetHeight, number>>,
): SheetHeight {
  const distancePx = (height: SheetHeight) => Math.abs(heightsPx[height] - endPx)
  const nearest = SHEET_HEIGHTS.reduce((best, height) =>
    distancePx(height) < distancePx(best) ? height : best,
  )
  const movedPx = endPx - heightsPx[from]
  if (nearest !== from || Math.abs(movedPx) < STEP_PX) return nearest
  return heightBeside(from, movedPx > 0 ? 1 : -1)
}
