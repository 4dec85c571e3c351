import type { ComponentChildren } from 'preact'

/** The page of an event gives them to its part for the organiser, which is loaded later. */
export interface ControlsProps {
  /** Called after every change. */
  onChanged(): void
  /** What the organiser needs before the event opens. With it and one column, most controls are folded until then. */
  readonly first: ComponentChildren
  /** What follows in the columns of a wide screen; undefined where there is one column. */
  readonly below: { readonly left: ComponentChildren; readonly right: ComponentChildren } | undefined
}
