import type { Area } from '@landpass/client/grid'

/** The parts of a `State` that a map image is drawn from. Immutable. */
export interface MapState {
  readonly bounds: Area
  /** Row of the parcel in each cell of the bounds, or -1. */
  readonly rowAt: Int32Array
  /** Kind and joins of each cell: see `state/parts/tile-cells.ts`. */
  readonly cells: Uint8Array
  /** Per parcel row the number of the offer that is shown for it, or -1. Undefined: offers are not drawn. */
  readonly offers: Int32Array | undefined
}
