import { useSignal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { followedChain } from '../live/chain.ts'
import { worldChange, worldGrid } from '../live/world.ts'
import { LAYERS, type LayerName, layer, openList, selection } from '../state/explore-state.ts'
import { isPanelBelow } from '../state/map-frame.ts'
import { formatDateTime } from '../texts/format.ts'
import { type TextKey, text } from '../texts/texts.ts'
import { BlockAge, isAtNewestBlock } from './chain-state.tsx'
import { DistrictLegend } from './district-legend.tsx'
import { GroundLegend } from './ground-legend.tsx'
import { MineLegend } from './mine-legend.tsx'
import { OnSaleLegend } from './on-sale-legend.tsx'
import { PaidLegend, PriceLegend } from './price-legend.tsx'

const NAMES: Readonly<Record<LayerName, TextKey>> = {
  on_sale: 'map.layer.on_sale',
  price: 'map.layer.by_price',
  sales: 'map.layer.by_sales',
  districts: 'map.layer.districts',
  mine: 'map.layer.mine',
  none: 'map.layer.none',
}
const LEGENDS = {
  on_sale: OnSaleLegend,
  price: PriceLegend,
  sales: PaidLegend,
  districts: DistrictLegend,
  mine: MineLegend,
  none: () => null,
} as const satisfies Readonly<Record<LayerName, unknown>>

/** From this size on, in rem, the legend is open when the page starts. */
const ROOMY = { width: 48.01, height: 34 }

export function layerName(): string {
  return text(NAMES[layer.value])
}

/** The choice of layers, and the legend of the chosen one. On a phone it is collapsed to a button at first. */
export function LayerPanel() {
  const isOpen = useSignal(isRoomy())
  useLayoutEffect(() => {
    // With a panel below the map there is little room left: the legend is collapsed until the reader opens it again.
    // The panel is measured once all components have been rendered.
    queueMicrotask(() => {
      if (isPanelBelow()) isOpen.value = false
    })
  }, [selection.value, openList.value])
  return (
    <section class="layers" aria-label={text('map.layers')}>
      <div id="layer-body" class="layer-body card" hidden={!isOpen.value}>
        <LayerChoice />
        <Legend />
        <GroundLegend />
        <StateTime />
      </div>
      <button
        type="button"
        class="layer-toggle"
        aria-expanded={isOpen.value}
        aria-controls="layer-body"
        onClick={() => {
          isOpen.value = !isOpen.value
        }}
      >
        <span>{text('map.layer.current', { layer: layerName() })}</span>
      </button>
    </section>
  )
}

function isRoomy(): boolean {
  const letterPx = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
  return innerWidth >= ROOMY.width * letterPx && innerHeight >= ROOMY.height * letterPx
}

function LayerChoice() {
  return (
    <fieldset class="layer-choice">
      <legend class="visually-hidden">{text('map.layers')}</legend>
      {LAYERS.map((name) => (
        <label key={name}>
          <input
            type="radio"
            name="layer"
            value={name}
            checked={layer.value === name}
            onChange={() => {
              layer.value = name
            }}
          />
          <span>{text(NAMES[name])}</span>
        </label>
      ))}
    </fieldset>
  )
}

function Legend() {
  const LegendOfLayer = LEGENDS[layer.value]
  return <LegendOfLayer />
}

function StateTime() {
  const chain = followedChain.value
  return chain && isAtNewestBlock.value ? <BlockAge chain={chain} /> : <WorldTime />
}

/** The time of the shown state. Changes show by themselves, so nothing else is said about updates. */
function WorldTime() {
  const grid = worldGrid.value
  // Subscribes to changes: the grid object stays the same.
  void worldChange.value
  if (!grid) return null
  return <p class="hint world-time">{text('map.state_time', { time: formatDateTime(grid.timeMs) })}</p>
}
