import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import config from './vitest.config.mjs'

// `npm run test:quick`: unit tests without a database and without other processes, and one journey of each interface. For
// use while you work; before a merge, all of `npm test` must pass.

const UNIT_TESTS = 'server/dist/src'
const JOURNEYS = ['land-clock', 'booth'].map((name) => `server/dist/test/journeys/${name}.test.js`)
/** Support files of tests that open a database, start processes, or make whole worlds. */
const COSTLY = /support\/(?:engines|landpass|children|demo-snapshots|issuers|reference-map|demo-rules)/

const costly = readdirSync(UNIT_TESTS, { recursive: true, encoding: 'utf8' })
  .map((name) => join(UNIT_TESTS, name))
  .filter((file) => file.endsWith('.test.js') && COSTLY.test(readFileSync(file, 'utf8')))

export default {
  ...config,
  test: {
    ...config.test,
    include: [`${UNIT_TESTS}/**/*.test.js`, 'client/src/**/*.test.ts', 'web/src/**/*.test.ts', ...JOURNEYS],
    exclude: costly,
  },
}
