import { useId } from 'preact/hooks'
import { formatDate, formatPrice } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { distanceOf, heightOf, PriceAxis, SIZE, TimeAxis } from './chart-axes.tsx'
import type { HistoryState } from './history-rows.ts'
import { offerStateText } from './offer-texts.ts'
import { type PriceScale, priceScale } from './price-scale.ts'
import { type TimeScale, timeScale } from './time-scale.ts'

export interface PricePoint {
  readonly timeMs: number
  readonly price: number
  readonly state: HistoryState
}

/** From this many points on, marks are smaller and the line is left out: it would hide them. */
const MANY = 40

interface Scales {
  readonly price: PriceScale
  readonly time: TimeScale
}

/**
 * Prices over time. The state of an offer is shown by the mark's shape and, in addition, by its colour. Needs at least
 * one point.
 */
export function PriceChart({ points }: { readonly points: readonly PricePoint[] }) {
  const titleId = useId()
  const scales = {
    price: priceScale(points.map(({ price }) => price)),
    time: timeScale(points.map(({ timeMs }) => timeMs)),
  }
  return (
    <figure class="price-chart">
      <svg
        viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
        role="img"
        aria-labelledby={`${titleId} ${titleId}-more`}
      >
        <title id={titleId}>{text('chart.title')}</title>
        <desc id={`${titleId}-more`}>{summary(points)}</desc>
        <PriceAxis scale={scales.price} />
        <TimeAxis scale={scales.time} />
        <SoldLine points={points} scales={scales} />
        {points.map((point, i) => (
          <Mark key={i} point={point} scales={scales} radius={points.length < MANY ? 5 : 3.5} />
        ))}
      </svg>
      <Legend points={points} isLogarithmic={scales.price.isLogarithmic} />
    </figure>
  )
}

function summary(points: readonly PricePoint[]): string {
  const prices = points.map(({ price }) => price)
  const times = points.map(({ timeMs }) => timeMs)
  const least = (values: readonly number[]) => values.reduce((a, b) => Math.min(a, b))
  const most = (values: readonly number[]) => values.reduce((a, b) => Math.max(a, b))
  return text('chart.summary', {
    count: points.length,
    from: formatDate(least(times)),
    to: formatDate(most(times)),
    lowest: formatPrice(least(prices)),
    highest: formatPrice(most(prices)),
  })
}

/** What was paid, from one sale to the next. */
function SoldLine({ points, scales }: { readonly points: readonly PricePoint[]; readonly scales: Scales }) {
  const sold = points.filter(({ state }) => state === 'sold').sort((a, b) => a.timeMs - b.timeMs)
  if (sold.length < 2 || points.length >= MANY) return null
  const corners = sold.map((point) => {
    const { x, y } = spotOf(point, scales)
    return `${x},${y}`
  })
  return <polyline class="chart-line" points={corners.join(' ')} />
}

interface MarkProps {
  readonly point: PricePoint
  readonly scales: Scales
  readonly radius: number
}

function Mark({ point, scales, radius }: MarkProps) {
  const { x, y } = spotOf(point, scales)
  return (
    <g transform={`translate(${x} ${y})`}>
      <title>
        {`${formatDate(point.timeMs)} · ${formatPrice(point.price)} · ${offerStateText(point.state)}`}
      </title>
      <Shape state={point.state} radius={radius} />
    </g>
  )
}

function Shape({ state, radius: r }: { readonly state: HistoryState; readonly radius: number }) {
  const className = `chart-mark chart-${state}`
  switch (state) {
    case 'sold':
      return <circle class={className} r={r} />
    case 'open':
      return <path class={className} d={`M0 ${-1.4 * r}L${1.4 * r} 0L0 ${1.4 * r}L${-1.4 * r} 0Z`} />
    case 'cancelled':
      return <path class={className} d={`M${-r} ${-r}L${r} ${r}M${-r} ${r}L${r} ${-r}`} />
    case 'refused':
      return <path class={className} d={`M0 ${-1.3 * r}L${1.2 * r} ${r}H${-1.2 * r}Z`} />
    case 'expired':
      return <rect class={className} x={-r} y={-r} width={2 * r} height={2 * r} />
  }
}

const STATES: readonly HistoryState[] = ['open', 'sold', 'cancelled', 'expired', 'refused']

interface LegendProps {
  readonly points: readonly PricePoint[]
  readonly isLogarithmic: boolean
}

function Legend({ points, isLogarithmic }: LegendProps) {
  const there = STATES.filter((state) => points.some((point) => point.state === state))
  return (
    <figcaption class="chart-legend">
      {there.map((state) => (
        <span key={state}>
          <svg viewBox="-8 -8 16 16" aria-hidden="true">
            <Shape state={state} radius={5} />
          </svg>
          {offerStateText(state)}
        </span>
      ))}
      {isLogarithmic && <span>{text('chart.logarithmic')}</span>}
    </figcaption>
  )
}

function spotOf({ timeMs, price }: PricePoint, { time, price: prices }: Scales): { x: number; y: number } {
  return { x: distanceOf(time.position(timeMs)), y: heightOf(prices.position(price)) }
}
