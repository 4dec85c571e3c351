import { expect, test } from 'vitest'
import { Verdict } from '../../bench/attendance/script.ts'
import { checkFaults, withFaults } from '../../bench/faults/dependencies.ts'
import { freshDatabaseUrl } from '../support/engines.ts'

/** The short form of `npm run faults -- dependencies`. */
test('while a dependency is away reads go on, claims fail with one code, and afterwards nothing is wrong', async () => {
  const verdict = new Verdict()
  const url = await freshDatabaseUrl()
  await withFaults({ url, end: async () => {} }, async (place) => {
    for (const faults of [['frozen'], ['read-only'], ['disk full', 'stopped']] as const) {
      await checkFaults(place, { faults, awayMs: 2_500, seed: 7, verdict, isCalm: true })
    }
  })
  expect(verdict.broken).toEqual([])
}, 300_000)
