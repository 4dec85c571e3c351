/** What a wheel or a trackpad says, as browsers tell it. */
export interface WheelTurn {
  readonly deltaY: number
  /** 0: pixels, 1: lines, 2: pages. */
  readonly deltaMode: number
  /** Browsers say so for two fingers on a trackpad that part or close. */
  readonly ctrlKey: boolean
}

const PX_OF_MODE = [1, 40, 400]
/** A notch of a mouse is 100 to 120 pixels, and brings the map about a third closer. */
const PX_PER_E_FOLD = 380
/** Pinching tells small numbers. */
const PINCH_PX_PER_E_FOLD = 100
/** Some drivers add several notches up to one turn: more than that at once is too much to follow. */
const MOST_PX = 240

/** How many times closer a turn brings the map; less than 1 further away. */
export function wheelFactor({ deltaY, deltaMode, ctrlKey }: WheelTurn): number {
  const px = deltaY * (PX_OF_MODE[deltaMode] ?? 1)
  const bounded = Math.min(Math.max(px, -MOST_PX), MOST_PX)
  // A mouse whose reader holds ctrl says ctrlKey too, with the large numbers of a mouse.
  const isPinch = ctrlKey && Math.abs(px) < 50
  return Math.exp(-bounded / (isPinch ? PINCH_PX_PER_E_FOLD : PX_PER_E_FOLD))
}
