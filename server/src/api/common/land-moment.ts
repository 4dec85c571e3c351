import type { Clock } from '../../clock.ts'
import type { State } from '../../state/state.ts'

/**
 * The land at one revision, from the end of one offer or rent to the next one: all that is read of it is the same. Answers that are made of
 * one moment can be held until the next (http/held-answers.ts).
 */
export interface LandMoment {
  readonly state: State
  /** A time in it, in milliseconds since 1970. */
  readonly nowMs: number
}

/**
 * @returns a function that gives the moment of now: the same object as long as it lasts. It throws what `state` throws
 */
export function momentsOf(state: () => State, clock: Clock): () => LandMoment {
  let moment: LandMoment | undefined
  let untilMs = 0
  return () => {
    const current = state()
    const nowMs = clock.nowMs()
    // A clock can be set back.
    if (moment?.state === current && moment.nowMs <= nowMs && nowMs < untilMs) return moment
    untilMs = current.nextExpiry(nowMs)
    moment = { state: current, nowMs }
    return moment
  }
}
