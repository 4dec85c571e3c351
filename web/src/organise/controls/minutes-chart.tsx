import { useSignal } from '@preact/signals'
import type { MinuteOfClaims } from '../../api/controls.ts'
import { serverNowMs } from '../../api/server-clock.ts'
import { formatNumber } from '../../texts/format.ts'
import { locale, text } from '../../texts/texts.ts'
import { type Bar, barsOf, scaleTop } from './claims-by-minute.ts'

/** Units of the drawing: bars are as wide as the card divided by their number. */
const WIDTH = 720
const HEIGHT = 160
/** What the reader can choose, in minutes. The report reaches back three hours. */
const LENGTHS = [60, 180] as const

/** Claims by minute, as bars, and as a table for those who do not see them. */
export function MinutesChart({ minutes }: { readonly minutes: readonly MinuteOfClaims[] }) {
  const length = useSignal<(typeof LENGTHS)[number]>(60)
  const bars = barsOf(minutes, serverNowMs(), length.value)
  const withClaims = bars.filter(({ claims }) => claims > 0)
  const sum = bars.reduce((total, { claims }) => total + claims, 0)
  return (
    <section class="card">
      <h2>{text('controls.chart.heading')}</h2>
      <fieldset class="row lengths">
        <legend class="visually-hidden">{text('controls.chart.heading')}</legend>
        {LENGTHS.map((count) => (
          <button
            type="button"
            key={count}
            aria-pressed={length.value === count}
            onClick={() => {
              length.value = count
            }}
          >
            {text('controls.chart.minutes', { count })}
          </button>
        ))}
      </fieldset>
      <Bars bars={bars} />
      <p class="chart-ends" aria-hidden="true">
        <span>{clockText(bars[0])}</span>
        <span>{clockText(bars.at(-1))}</span>
      </p>
      <p class="hint">{text('controls.chart.label', { count: length.value, claims: sum })}</p>
      {withClaims.length > 0 && (
        <details>
          <summary>{text('controls.chart.table')}</summary>
          <table>
            <thead>
              <tr>
                <th scope="col">{text('controls.chart.minute')}</th>
                <th scope="col" class="number">
                  {text('controls.chart.claims')}
                </th>
              </tr>
            </thead>
            <tbody>
              {withClaims.toReversed().map((bar) => (
                <tr key={bar.atMs}>
                  <th scope="row">{clockText(bar)}</th>
                  <td class="number">{formatNumber(bar.claims)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
    </section>
  )
}

function Bars({ bars }: { readonly bars: readonly Bar[] }) {
  const top = scaleTop(bars)
  const width = WIDTH / bars.length
  return (
    <div class="chart">
      <span class="chart-top" aria-hidden="true">
        {formatNumber(top)}
      </span>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <path class="chart-lines" d={`M0 .5H${WIDTH}M0 ${HEIGHT / 2}H${WIDTH}M0 ${HEIGHT - 0.5}H${WIDTH}`} />
        {bars.map(({ atMs, claims }, at) => {
          const height = (claims / top) * HEIGHT
          return <rect key={atMs} x={at * width} y={HEIGHT - height} width={width * 0.8} height={height} />
        })}
      </svg>
    </div>
  )
}

/** Hour and minute in the reader's time zone. */
function clockText(bar: Bar | undefined): string {
  if (!bar) return ''
  return new Intl.DateTimeFormat(locale.value, { timeStyle: 'short' }).format(bar.atMs)
}
