import { useRef } from 'preact/hooks'
import { uncover } from '../state/map-frame.ts'
import { selectedNow } from '../state/selected-now.ts'
import { text } from '../texts/texts.ts'
import {
  heightAfter,
  heightAfterDrag,
  heightBeside,
  SHEET_HEIGHTS,
  type SheetHeight,
  sheetHeight,
  TAP_PX,
} from './sheet-height.ts'

interface Drag {
  readonly sheet: HTMLElement
  readonly startPx: number
  readonly heightsPx: Readonly<Record<SheetHeight, number>>
  /** The height of the sheet now. */
  nowPx: number
}

/**
 * The upper edge of a panel below the map: drag it, press it for the next height, or use the arrow keys. It is hidden where the
 * panel lies beside the map.
 */
export function SheetHandle() {
  const drag = useRef<Drag | undefined>(undefined)
  /** The click that follows a drag must not change the height again. */
  const isDragged = useRef(false)

  const start = ({ currentTarget, pointerId, clientY }: PointerEvent) => {
    const handle = currentTarget as HTMLElement
    const sheet = handle.parentElement
    if (!sheet) return
    handle.setPointerCapture(pointerId)
    isDragged.current = false
    const heightsPx = measureHeights(sheet)
    drag.current = { sheet, startPx: clientY, heightsPx, nowPx: heightsPx[sheetHeight.peek()] }
  }
  const move = ({ clientY }: PointerEvent) => {
    const current = drag.current
    if (!current) return
    const { sheet, startPx, heightsPx } = current
    if (Math.abs(startPx - clientY) > TAP_PX) isDragged.current = true
    const wantedPx = heightsPx[sheetHeight.peek()] + startPx - clientY
    current.nowPx = Math.min(Math.max(wantedPx, heightsPx.low), heightsPx.full)
    sheet.style.height = `${current.nowPx}px`
  }
  const end = () => {
    const current = drag.current
    if (!current) return
    drag.current = undefined
    current.sheet.style.height = ''
    if (!isDragged.current) return
    setHeight(heightAfterDrag(sheetHeight.peek(), current.nowPx, current.heightsPx))
    // A mouse clicks in the same task, a finger that has moved does not click at all.
    setTimeout(() => {
      isDragged.current = false
    })
  }
  return (
    <button
      type="button"
      class="sheet-handle"
      onClick={() => {
        if (!isDragged.current) setHeight(heightAfter(sheetHeight.peek()))
      }}
      onKeyDown={(event) => {
        if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return
        event.preventDefault()
        setHeight(heightBeside(sheetHeight.peek(), event.key === 'ArrowUp' ? 1 : -1))
      }}
      onPointerDown={start}
      onPointerMove={move}
      onPointerUp={end}
      onPointerCancel={end}
    >
      <span class="visually-hidden" aria-live="polite">
        {text(`map.sheet.${sheetHeight.value}`)}
      </span>
    </button>
  )
}

/** What is selected stays in the part of the map that the sheet leaves free. */
function setHeight(height: SheetHeight): void {
  if (height === sheetHeight.peek()) return
  sheetHeight.value = height
  // A render is a microtask, so the sheet is laid out before the next frame.
  if (height !== 'full') requestAnimationFrame(() => uncover(selectedNow.peek()))
}

/** How high the sheet is at each of its heights, in CSS pixels, as the style sheet has them. */
function measureHeights(sheet: HTMLElement): Record<SheetHeight, number> {
  const measured = SHEET_HEIGHTS.map((height) => {
    sheet.setAttribute('data-height', height)
    return [height, sheet.offsetHeight] as const
  })
  sheet.setAttribute('data-height', sheetHeight.peek())
  return Object.fromEntries(measured) as Record<SheetHeight, number>
}
