import type { Area } from '@landpass/client/grid'

/** What a picture is made of: parts of a `State`, none of which ever changes. */
export interface MapSnapshot {
  readonly bounds: Area
  /** Row of the parcel in each cell of the bounds, or -1. */
  readonly rowAt: Int32Array
  /** Kind and joins of each cell: see `state/parts/tile-cells.ts`. */
  readonly cells: Uint8Array
  /** Per parcel row the offer that is shown for it, or -1. Undefined: what is on sale does not stand out. */
  readonly offers: Int32Array | undefined
}
