/** The fields of a `WheelEvent` that zooming uses. */
export interface WheelTurn {
  readonly deltaY: number
  /** 0: pixels, 1: lines, 2: pages. */
  readonly deltaMode: number
  /** True also for pinching on a trackpad, which browsers report so. */
  readonly ctrlKey: boolean
}

const PX_OF_MODE = [1, 40, 400]
/** A notch of a mouse is 100 to 120 pixels, and brings the map about a third closer. */
const PX_PER_E_FOLD = 380
/** Pinching on a trackpad reports small numbers. */
const PINCH_PX_PER_E_FOLD = 100
/** Limit per event: some drivers add several notches up to one. */
const MOST_PX = 240

/** How many times closer a turn brings the map; less than 1 further away. */
export function wheelFactor({ deltaY, deltaMode, ctrlKey }: WheelTurn): number {
  const px = deltaY * (PX_OF_MODE[deltaMode] ?? 1)
  const bounded = Math.min(Math.max(px, -MOST_PX), MOST_PX)
  // With Ctrl held a mouse wheel also reports ctrlKey, but with large numbers.
  const isPinch = ctrlKey && Math.abs(px) < 50
  return Math.exp(-bounded / (isPinch ? PINCH_PX_PER_E_FOLD : PX_PER_E_FOLD))
}
