import type { ComponentChildren } from 'preact'
import type { LandFilter } from '../state/land-filter.ts'

/** What the panels of parcels and estates are given. */
export interface PanelProps {
  /** The button that watches what a filter keeps; undefined where nothing can be watched. */
  readonly watchOf?: ((filter: LandFilter) => ComponentChildren) | undefined
  onClose(): void
}
