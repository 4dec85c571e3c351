import fc from 'fast-check'

/** The environment variable that gives property tests another seed: `npm run test:random` sets it, and prints it. */
export const SEED_VARIABLE = 'LANDPASS_TEST_SEED'
/** Of `npm test`: the same examples in each run, so that a failure is a change of the code's. */
const SEED = 20_261_120

fc.configureGlobal({ seed: Number(process.env[SEED_VARIABLE] ?? SEED) })
