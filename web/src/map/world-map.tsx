import { useSignal } from '@preact/signals'
import { useEffect, useId, useRef } from 'preact/hooks'
import { loadWorld, worldFault, worldGrid, worldStatus } from '../live/world.ts'
import { outdatedText } from '../texts/refusal.ts'
import { text } from '../texts/texts.ts'
import { Failure, Loading } from '../ui/notice.tsx'
import { type LiveMap, startLiveMap } from './live-map.ts'
import type { WorldMapProps } from './map-parts.ts'
import './map.css'

/*
 * The parts of the map, from the screen inwards:
 *
 *   world-map.tsx       elements, texts, buttons, and what is shown while there is no world
 *   live-map.ts         binds the engine to world and page, and to the reader (map-reader.ts)
 *   map-pointers.ts     mouse, fingers, pen, wheel → gestures.ts, wheel.ts: what they mean
 *   map-keys.ts         keys, and the cursor that they move
 *   steering.ts         where the map looks (camera.ts), and how it moves by itself (motion.ts)
 *   map-engine.ts       the frame: what has changed is painted, once
 *   ground-picture.ts   the land as pictures: a coarse one of all, sharp ones of its parts (chunk-cache.ts)
 *   cell-painter.ts     parcels → pixels, in the colours of map-palette.ts
 *   marks.ts            outlines (outline.ts) and what lights up
 *   label-layer.ts      names, lines on parcels, coordinates on the edge; label-placement.ts: which, and where
 *
 * camera, motion, steering, gestures, wheel, cell-painter, outline, label-placement and map-palette know no browser.
 */

/** The map of the world, drawn on a canvas. It fills the element that it is in. */
export function WorldMap(props: WorldMapProps) {
  const latest = useRef(props)
  latest.current = props
  const canvas = useRef<HTMLCanvasElement>(null)
  const letters = useRef<HTMLCanvasElement>(null)
  const map = useRef<LiveMap | undefined>(undefined)
  const pointed = useSignal('')
  const said = useSignal('')
  const isHinting = useSignal(false)
  const helpId = useId()
  useEffect(() => {
    if (!canvas.current) return
    const live = startLiveMap({
      canvas: canvas.current,
      letters: letters.current ?? undefined,
      pointed,
      said,
      isHinting,
      props: () => latest.current,
    })
    map.current = live
    return live.end
  }, [])
  const tryAgain = () => {
    canvas.current?.focus() // the pressed button disappears
    worldStatus.value = 'loading'
    void loadWorld()
  }
  return (
    <div class="world-map" data-mode={props.mode ?? 'pick'} data-finger={props.finger}>
      <div role="application" aria-label={props.label}>
        <canvas
          class="map-surface"
          ref={canvas}
          tabIndex={0}
          onBlur={() => props.onPoint?.(undefined)}
          aria-label={props.label}
          aria-describedby={helpId}
        />
      </div>
      {props.letters && <canvas class="map-letters" ref={letters} />}
      <p class="map-help" id={helpId}>
        {props.mode === 'draw' ? text('map.help.draw') : text('map.help')}
      </p>
      <p class="visually-hidden" role="status">
        {said}
      </p>
      <p class="map-readout" aria-hidden="true">
        {pointed}
      </p>
      {isHinting.value && (
        <p class="map-wheel-hint" aria-hidden="true">
          {text('map.wheel_hint')}
        </p>
      )}
      <MapButtons map={() => map.current} />
      <MapStatus onRetry={tryAgain} />
    </div>
  )
}

function MapButtons({ map }: { map(): LiveMap | undefined }) {
  return (
    <div class="map-buttons">
      <MapButton label={text('map.zoom_in')} drawing="M12 5v14M5 12h14" onPress={() => map()?.step('in')} />
      <MapButton label={text('map.zoom_out')} drawing="M5 12h14" onPress={() => map()?.step('out')} />
      <MapButton
        label={text('map.whole_world')}
        drawing="M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5"
        onPress={() => map()?.showWhole()}
      />
    </div>
  )
}

interface MapButtonProps {
  readonly label: string
  /** Lines of an icon of 24 by 24. */
  readonly drawing: string
  onPress(): void
}

function MapButton({ label, drawing, onPress }: MapButtonProps) {
  return (
    <button type="button" aria-label={label} title={label} onClick={onPress}>
      <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
        <path d={drawing} fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" />
      </svg>
    </button>
  )
}

/** Shown over the map while there is no world, or while it cannot be updated. */
function MapStatus({ onRetry }: { onRetry(): void }) {
  if (!worldGrid.value) {
    const hasFailed = worldStatus.value === 'failed'
    return (
      <div class="map-cover">
        {hasFailed ? (
          <Failure error={worldFault.value} isRepeated onRetry={onRetry} />
        ) : (
          <Loading label={text('map.loading')} />
        )}
      </div>
    )
  }
  return (
    <p class="map-offline" role="status">
      {worldStatus.value === 'unreachable' && outdatedText(worldFault.value)}
    </p>
  )
}
