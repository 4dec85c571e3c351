import type { ComponentChildren } from 'preact'
import type { LandFilter } from '../state/land-filter.ts'

/** What the panels of parcels and estates are given. */
export interface PanelProps {
  /** The button that watches land, given by filters that keep it; undefined where nothing can be watched. */
  readonly watchOf?: ((filters: readonly [LandFilter, ...LandFilter[]]) => ComponentChildren) | undefined
  onClose(): void
}
