import { CITUS_NEEDED, citusPrograms } from '@landpass/server/test/support/database/citus'
import { expect, test } from 'vitest'
import { citus } from '../../faults/citus.ts'
import { Verdict } from '../../faults/script.ts'

const WITHOUT = citusPrograms() === undefined ? ` (skipped: it ${CITUS_NEEDED})` : ''

test.skipIf(WITHOUT !== '')(
  `the tables of a running deployment are distributed over several servers, of which one fails and comes back${WITHOUT}`,
  { timeout: 600_000 },
  async () => {
    const verdict = new Verdict()
    await citus.run({ seed: 5, engine: 'postgres', processes: 1, rounds: 2, scale: 0.01 }, verdict)
    expect(verdict.broken).toEqual([])
  },
)
