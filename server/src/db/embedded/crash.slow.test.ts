import { once } from 'node:events'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { freshDataDir, TEST_SETTINGS } from '../../../test/support/database/engines.ts'
import { killHard, startChild } from '../../../test/support/processes/children.ts'
import { openEngine } from '../open-engine.ts'

/** More rounds find rarer losses: LANDPASS_CRASH_ROUNDS=200 before a release. */
const ROUNDS = Number(process.env.LANDPASS_CRASH_ROUNDS ?? 3)

test(
  'a process that is killed while it writes loses no commit that was confirmed to it',
  async () => {
    const dataDir = await freshDataDir()
    let next = 0
    for (let round = 0; round < ROUNDS; round++) {
      const confirmed = await writeUntilKilled(dataDir, next, 20 + Math.floor(Math.random() * 200))

      const engine = await openEngine({ ...TEST_SETTINGS, dataDir })
      const { rows } = await sql<{ n: number }>`select n from counted order by n`.execute(engine.db)
      await engine.close()

      const found = rows.map(({ n }) => n)
      // One more may be there: committed, but the child was killed before it could report it
      expect(found).toEqual(Array.from({ length: found.length }, (_, n) => n))
      expect(found.length).toBeGreaterThan(confirmed)
      next = found.length
    }
  },
  ROUNDS * 200_000,
)

/** @returns the last number that the child reported before it was killed, `count` numbers after `first` */
async function writeUntilKilled(dataDir: string, first: number, count: number): Promise<number> {
  const child = startChild('crash-child', dataDir, String(first))
  let confirmed = -1
  child.on('message', (n) => {
    confirmed = Number(n)
  })
  while (confirmed < first + count) await once(child, 'message')
  await killHard(child)
  return confirmed
}
