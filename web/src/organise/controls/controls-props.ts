import type { ComponentChildren } from 'preact'

/** The page of an event gives them to its part for the organiser, which is loaded later. */
export interface ControlsProps {
  /** Called after every change. */
  onChanged(): void
  /** What follows in the columns of a wide screen. */
  readonly below: { readonly left: ComponentChildren; readonly right: ComponentChildren } | undefined
}
