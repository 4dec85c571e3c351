/**
 * The way through the form:
 *
 *   event ──▶ places ──▶ register ──▶ codes ──▶ the live page
 *     └── registered already: only codes ──▶┘
 *
 * The organiser can go back to each of them. A step needs the data of those before it.
 */
export const STEPS = ['event', 'places', 'register', 'codes'] as const
export type Step = (typeof STEPS)[number]

/** What has been done so far. */
export interface Progress {
  /** An event id and an edit code were given. */
  readonly hasEvent: boolean
  readonly hasPlaces: boolean
  readonly isRegistered: boolean
}

/**
 * Whether a step can be shown.
 *
 * @example
 * isReachable('places', { hasEvent: true, hasPlaces: false, isRegistered: false }) // true
 */
export function isReachable(step: Step, { hasEvent, hasPlaces, isRegistered }: Progress): boolean {
  switch (step) {
    case 'event':
      return true
    case 'places':
      return hasEvent
    case 'register':
      return hasEvent && hasPlaces
    case 'codes':
      return hasEvent && isRegistered
  }
}

/** Counted from 1. */
export function numberOf(step: Step): number {
  return STEPS.indexOf(step) + 1
}
