/** A parcel's place. */
export interface Place {
  readonly x: number
  readonly y: number
}

/** What of the world is on the screen: the place in its middle. A whole number is the middle of that parcel. */
export interface View extends Place {
  /** Side of a parcel, in CSS pixels. */
  readonly zoom: number
}

/**
 * What a layer paints over the ground, by cell number: 0 leaves a cell as it is, 1 and up are the inks of
 * `inks.ts`, each with or without `DIMMED`. The array is never changed once it is given to the map.
 */
export type LayerInks = Uint8Array
