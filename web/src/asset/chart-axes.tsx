import { formatDay, formatShortPrice } from '../texts/format.ts'
import type { PriceScale } from './price-scale.ts'
import type { TimeScale } from './time-scale.ts'

/** The axes of charts, and where prices and times lie between them. */

/** In units of the drawing, which is as wide as its place allows. */
export const SIZE = { width: 360, height: 190 }
export const EDGE = { left: 50, right: 14, top: 12, bottom: 28 }
export const INNER = {
  width: SIZE.width - EDGE.left - EDGE.right,
  height: SIZE.height - EDGE.top - EDGE.bottom,
}
/** Between the axes and the marks that are nearest to them. */
const AIR = 10

export function PriceAxis({ scale }: { readonly scale: PriceScale }) {
  return (
    <g>
      {scale.ticks.map((price) => {
        const y = heightOf(scale.position(price))
        return (
          <g key={price}>
            <line class="chart-grid" x1={EDGE.left} x2={SIZE.width - EDGE.right} y1={y} y2={y} />
            <text class="chart-text" x={EDGE.left - 8} y={y + 4} text-anchor="end">
              {formatShortPrice(price)}
            </text>
          </g>
        )
      })}
    </g>
  )
}

export function TimeAxis({ scale }: { readonly scale: TimeScale }) {
  return (
    <g>
      {scale.ticks.map((timeMs) => {
        const x = distanceOf(scale.position(timeMs))
        return (
          <g key={timeMs}>
            <line
              class="chart-grid"
              x1={x}
              x2={x}
              y1={SIZE.height - EDGE.bottom}
              y2={SIZE.height - EDGE.bottom + 5}
            />
            <text class="chart-text" x={x} y={SIZE.height - 6} text-anchor={anchorAt(x)}>
              {formatDay(timeMs, scale.unit)}
            </text>
          </g>
        )
      })}
    </g>
  )
}

/** The first and last dates are aligned inwards: centred below their tick they would leave the drawing. */
function anchorAt(x: number): 'start' | 'middle' | 'end' {
  const MARGIN = 30
  if (x > SIZE.width - MARGIN) return 'end'
  return x < MARGIN ? 'start' : 'middle'
}

export function distanceOf(position: number): number {
  return rounded(EDGE.left + AIR + position * (INNER.width - 2 * AIR))
}

export function heightOf(position: number): number {
  return rounded(EDGE.top + (1 - position) * INNER.height)
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10
}
