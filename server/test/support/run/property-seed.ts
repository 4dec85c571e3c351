import fc from 'fast-check'
import { SEED_VARIABLE } from './prepared.ts'

/** Of `npm test`: the same examples in each run, so that a failure is a change of the code's. */
const SEED = 20_261_120
/** With a seed of its own, a run is meant to find something: it tries more examples. */
const MORE = 5

fc.configureGlobal({ seed: Number(process.env[SEED_VARIABLE] ?? SEED) })

/** Whether the examples are always the same: only then a test may expect that something rare is among them. */
export const HAS_FIXED_SEED = process.env[SEED_VARIABLE] === undefined

/** How many examples a costly property tries: `count`, or five times as many with another seed. */
export function runs(count: number): number {
  return HAS_FIXED_SEED ? count : count * MORE
}
