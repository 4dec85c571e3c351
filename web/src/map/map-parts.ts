import type { ReadonlySignal, Signal } from '@preact/signals'
import type { Spot } from './camera.ts'
import type { LabelLayer, MapLabels } from './label-layer.ts'
import type { MapPalette } from './map-palette.ts'
import type { LayerInks, Place, View } from './map-types.ts'

/** A parcel that the reader points at. */
export interface Pointed {
  readonly place: Place
  /** Where on the map, in CSS pixels. */
  readonly spot: Spot
  /** `pointer`: a mouse, a pen, or a finger that rests. `key`: the arrow keys. */
  readonly by: 'pointer' | 'key'
}

/** Properties of the map component. */
export interface WorldMapProps {
  /** What is on the screen; undefined until the map has shown the whole world. The map reads and writes it. */
  readonly view: Signal<View | undefined>
  /** Painted over the ground; undefined for nothing. */
  readonly inks: ReadonlySignal<LayerInks | undefined>
  /** Names and lines in letters. Left out: the map has none, and its page does not load what writes them. */
  readonly letters?: {
    readonly labels: ReadonlySignal<MapLabels | undefined>
    makeLayer(canvas: HTMLCanvasElement, palette: MapPalette): LabelLayer
  }
  /** Cell numbers that get a dot. */
  readonly marked?: ReadonlySignal<Uint32Array>
  /** Cell numbers that get an outline. */
  readonly selected: ReadonlySignal<Uint32Array>
  /** For screen readers. */
  readonly label: string
  /** `pick`: dragging moves the map. `draw`: dragging draws a rectangle of parcels. */
  readonly mode?: 'pick' | 'draw'
  /**
   * For a map inside a page that scrolls: whether dragging with one finger scrolls the page or acts on the map as
   * `mode` says. The wheel then scrolls the page, and zooms with Ctrl or Cmd. Left out: the map fills the page.
   */
  readonly finger?: 'scroll' | 'drag'
  /** Text for screen readers about the parcel at the cursor. Left out: its coordinates. */
  describe?(place: Place): string
  /** The reader points at a parcel; undefined: at none any more. */
  onPoint?(pointed: Pointed | undefined): void
  /** A parcel was clicked, tapped or chosen by key. */
  onPick(place: Place): void
  /** A rectangle of parcels was drawn, by two opposite corners. */
  onDraw?(from: Place, to: Place): void
}

/** What the map component gives to the map. */
export interface MapParts {
  readonly canvas: HTMLCanvasElement
  /** For letters: it lies over the other one; undefined where the map has none. */
  readonly letters: HTMLCanvasElement | undefined
  /** The current properties: a component can be rendered with new ones. */
  readonly props: () => WorldMapProps
  /** The parcel that the mouse points at, as a text. */
  readonly pointed: Signal<string>
  /** Text that is announced to screen readers. */
  readonly said: Signal<string>
  /** Whether the hint about zooming with the wheel is shown. */
  readonly isHinting: Signal<boolean>
}
