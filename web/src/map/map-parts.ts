import type { ReadonlySignal, Signal } from '@preact/signals'
import type { LayerInks, Place, View } from './map-types.ts'

/** What a page says of the map that it shows. */
export interface WorldMapProps {
  /** What is on the screen; undefined until the map has shown the whole world. The map reads and writes it. */
  readonly view: Signal<View | undefined>
  /** Painted over the ground; undefined for nothing. */
  readonly inks: ReadonlySignal<LayerInks | undefined>
  /** Cell numbers that stand out with an outline. */
  readonly selected: ReadonlySignal<Uint32Array>
  /** For screen readers. */
  readonly label: string
  /** `pick`: dragging moves the map. `draw`: dragging draws a rectangle of parcels. */
  readonly mode?: 'pick' | 'draw'
  /**
   * Of a map that is a part of a page that scrolls: what dragging with one finger does, to the page or to the map as `mode`
   * says. Its wheel scrolls the page, and zooms with Ctrl or Cmd. Without: the map is all of the page.
   */
  readonly finger?: 'scroll' | 'drag'
  /** What a screen reader says of the parcel that the arrow keys have moved to; its coordinates without. */
  describe?(place: Place): string
  /** A parcel was clicked, tapped or chosen by key. */
  onPick(place: Place): void
  /** A rectangle of parcels was drawn, by two opposite corners. */
  onDraw?(from: Place, to: Place): void
}

/** What a map is made of in the page. */
export interface MapParts {
  readonly canvas: HTMLCanvasElement
  /** Those of now: a component may be given others. */
  readonly props: () => WorldMapProps
  /** The parcel that the mouse points at, as a text. */
  readonly pointed: Signal<string>
  /** What a screen reader says. */
  readonly said: Signal<string>
  /** Whether the map says how the wheel zooms. */
  readonly isHinting: Signal<boolean>
}
