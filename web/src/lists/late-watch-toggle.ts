import { latePart } from '../ui/late-part.tsx'
import type { WatchToggleProps } from './list-props.ts'

/** The button that watches what a filter keeps. */
export const WatchToggle = latePart<WatchToggleProps>(
  async () => (await import('./watched-part.ts')).WatchToggle,
)
