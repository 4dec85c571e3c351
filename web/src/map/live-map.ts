import type { FeedGrid } from '@landpass/client/feed'
import { effect } from '@preact/signals'
import { worldChange, worldGrid } from '../live/world.ts'
import { theme } from '../theme.ts'
import { MapEngine, type World } from './map-engine.ts'
import { MAP_PALETTES } from './map-palette.ts'
import type { MapParts, WorldMapProps } from './map-parts.ts'
import { MapReader, prefersReducedMotion } from './map-reader.ts'
import type { View } from './map-types.ts'

const NO_CELLS = new Uint32Array(0)

export interface LiveMap {
  step(direction: 'in' | 'out'): void
  showWhole(): void
  end(): void
}

/** Connects an engine to the world, to the page's signals and to the reader's input. */
export function startLiveMap(parts: MapParts): LiveMap {
  let written: View | undefined
  const palette = MAP_PALETTES[theme.peek()]
  const engine = new MapEngine(parts.canvas, {
    palette,
    letters: parts.letters && parts.props().letters?.makeLayer(parts.letters, palette),
    moved: (view) => {
      if (view === written) return
      written = view
      parts.props().view.value = view
    },
  })
  const { steering } = engine
  const reader = new MapReader(engine, parts)
  const ends = [
    followPage(engine, parts.props(), () => written),
    followWorld(engine),
    followSize(engine, parts.canvas),
    () => reader.end(),
    () => engine.end(),
  ]
  return {
    step: (direction) => steering.step(direction, steering.middle(), { isSudden: prefersReducedMotion() }),
    showWhole: () => steering.show(undefined, { isSudden: prefersReducedMotion() }),
    end: () => {
      for (const end of ends) end()
    },
  }
}

/**
 * Applies the page's view, inks and selection to the engine.
 *
 * @param written the view that the map itself reported last
 */
function followPage(engine: MapEngine, props: WorldMapProps, written: () => View | undefined): () => void {
  let isFirst = true
  const ends = [
    effect(() => engine.setPalette(MAP_PALETTES[theme.value])),
    effect(() => engine.setInks(props.inks.value)),
    effect(() => engine.setLabels(props.letters?.labels.value)),
    effect(() => engine.setMarked(props.marked?.value ?? NO_CELLS)),
    effect(() => engine.setSelected(props.selected.value)),
    effect(() => {
      const view = props.view.value
      if (view !== written() || isFirst)
        engine.steering.show(view, { isSudden: isFirst || prefersReducedMotion() })
      isFirst = false
    }),
  ]
  return () => {
    for (const end of ends) end()
  }
}

function followWorld(engine: MapEngine): () => void {
  let isShown = false
  return effect(() => {
    const { cells } = worldChange.value
    const grid = worldGrid.value
    if (!grid) return
    if (cells && isShown) engine.changed(cells, { pulse: !prefersReducedMotion() })
    else engine.setWorld(worldOf(grid))
    isShown = true
  })
}

function worldOf({ bounds, cells }: FeedGrid): World {
  const { minX, minY, maxX, maxY } = bounds
  return { bounds, cells, columns: maxX - minX + 1, rows: maxY - minY + 1, inks: undefined }
}

/** Reports the canvas size in device pixels to the engine. */
function followSize(engine: MapEngine, canvas: HTMLCanvasElement): () => void {
  const observer = new ResizeObserver(([entry]) => {
    if (!entry) return
    const { width, height } = entry.contentRect
    const exact = entry.devicePixelContentBoxSize?.[0]
    const widthPx = wholePixels(width, exact?.inlineSize)
    const heightPx = wholePixels(height, exact?.blockSize)
    engine.resize({ widthPx, heightPx }, devicePixelRatio)
  })
  try {
    observer.observe(canvas, { box: 'device-pixel-content-box' })
  } catch {
    observer.observe(canvas) // Safari reports CSS pixels only
  }
  return () => observer.disconnect()
}

/**
 * A length in device pixels. Only the browser knows how it rounds, so its own number is used, except where a desktop
 * browser that emulates a phone reports CSS pixels.
 */
function wholePixels(length: number, exact: number | undefined): number {
  const pixels = length * devicePixelRatio
  return exact !== undefined && Math.abs(exact - pixels) < 2 ? exact : Math.round(pixels)
}
