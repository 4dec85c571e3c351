import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { formatComputedPrice, formatMonth, formatNumber } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { distanceOf, EDGE, heightOf, INNER, PriceAxis, SIZE, TimeAxis } from './chart-axes.tsx'
import { type MonthPoint, type PricedMonth, pricedRuns } from './month-points.ts'
import { type PriceScale, priceScale } from './price-scale.ts'
import { type TimeScale, timeScale } from './time-scale.ts'

/** The bars below the prices: one for each month, as high as it had sales. */
const BARS = { top: SIZE.height - EDGE.bottom + 16, height: 44 }
/** How far the axis of time lies lower than in a chart of prices alone. */
const LOWER = BARS.top + BARS.height - (SIZE.height - EDGE.bottom)
/** A single month is drawn so wide: a line has two ends. */
const SINGLE_WIDTH = 6

interface Scales {
  readonly price: PriceScale
  readonly time: TimeScale
}

/** The median price of a parcel by month, the range between the quartiles, and the number of sales. Needs a month with prices. */
export function SalesChart({ points }: { readonly points: readonly MonthPoint[] }) {
  const titleId = useId()
  const runs = pricedRuns(points)
  const priced = runs.flat()
  const scales = {
    price: priceScale(priced.flatMap(({ prices }) => [prices.low, prices.median, prices.high])),
    time: timeScale(points.map(({ timeMs }) => timeMs)),
  }
  return (
    <figure class="price-chart">
      <svg
        viewBox={`0 0 ${SIZE.width} ${SIZE.height + LOWER}`}
        role="img"
        aria-labelledby={`${titleId} ${titleId}-more`}
      >
        <title id={titleId}>{text('sales.over_time')}</title>
        <desc id={`${titleId}-more`}>{summary(points, priced)}</desc>
        <PriceAxis scale={scales.price} />
        <g transform={`translate(0 ${LOWER})`}>
          <TimeAxis scale={scales.time} />
        </g>
        {runs.map((run) => (
          <Run key={run[0]!.timeMs} run={run} scales={scales} />
        ))}
        <Bars points={points} time={scales.time} />
      </svg>
      <figcaption class="chart-legend">
        <Sign name={text('sales.median')}>
          <path class="chart-median" d="M-8 0H8" />
        </Sign>
        <Sign name={text('sales.middle_half')}>
          <path class="chart-range" d="M-8 -5H8V5H-8Z" />
        </Sign>
        <Sign name={text('district.sold')}>
          <path class="chart-bar" d="M-6 7V-1H-2V7ZM0 7V-6H4V7Z" />
        </Sign>
        {scales.price.isLogarithmic && <span>{text('chart.logarithmic')}</span>}
      </figcaption>
    </figure>
  )
}

function summary(points: readonly MonthPoint[], priced: readonly PricedMonth[]): string {
  const last = priced.at(-1)!
  return text('sales.summary', {
    count: points.reduce((sum, { count }) => sum + count, 0),
    from: formatMonth(points[0]!.timeMs),
    to: formatMonth(points.at(-1)!.timeMs),
    month: formatMonth(last.timeMs),
    median: formatComputedPrice(last.prices.median),
  })
}

/** Months that follow each other: the range as an area, and the median as a line on it. */
function Run({ run, scales }: { readonly run: readonly PricedMonth[]; readonly scales: Scales }) {
  const half = run.length === 1 ? SINGLE_WIDTH / 2 : 0
  const corners = (of: keyof PricedMonth['prices']) =>
    run.flatMap(({ timeMs, prices }) => {
      const [x, y] = [distanceOf(scales.time.position(timeMs)), heightOf(scales.price.position(prices[of]))]
      return half === 0 ? [`${x} ${y}`] : [`${x - half} ${y}`, `${x + half} ${y}`]
    })
  return (
    <g>
      <path class="chart-range" d={`M${[...corners('high'), ...corners('low').reverse()].join('L')}Z`} />
      <path class="chart-median" d={`M${corners('median').join('L')}`} />
    </g>
  )
}

function Bars({ points, time }: { readonly points: readonly MonthPoint[]; readonly time: TimeScale }) {
  const most = points.reduce((highest, { count }) => Math.max(highest, count), 1)
  const width = Math.min(INNER.width / points.length, 12) * 0.8
  const bottom = BARS.top + BARS.height
  return (
    <g>
      <path class="chart-grid" d={`M${EDGE.left} ${bottom}H${SIZE.width - EDGE.right}`} />
      <text class="chart-text" x={EDGE.left - 8} y={BARS.top + 8} text-anchor="end">
        {formatNumber(most)}
      </text>
      {points.map((point) => {
        const x = distanceOf(time.position(point.timeMs))
        const height = (point.count / most) * BARS.height
        return (
          <g key={point.timeMs}>
            <title>{monthText(point)}</title>
            {/* The whole height of the chart says what the month was. */}
            <rect
              class="chart-month"
              x={x - width / 2}
              y={EDGE.top}
              width={width}
              height={bottom - EDGE.top}
            />
            <rect class="chart-bar" x={x - width / 2} y={bottom - height} width={width} height={height} />
          </g>
        )
      })}
    </g>
  )
}

function monthText({ timeMs, count, prices }: MonthPoint): string {
  const sales = text('sales.counted', { count })
  const parts = [formatMonth(timeMs), sales, prices && formatComputedPrice(prices.median)]
  return parts.filter(Boolean).join(' · ')
}

function Sign({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <span>
      <svg viewBox="-8 -8 16 16" aria-hidden="true">
        {children}
      </svg>
      {name}
    </span>
  )
}
