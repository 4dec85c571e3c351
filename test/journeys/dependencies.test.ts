import { freshDatabaseUrl } from '@landpass/server/test/support/database/engines'
import { expect, test } from 'vitest'
import { checkFaults, withFaults } from '../../faults/dependencies.ts'
import { Verdict } from '../../faults/script.ts'

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
