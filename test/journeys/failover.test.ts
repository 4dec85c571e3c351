import { endLeases } from '@landpass/server/test/support/attendance/attendance-rows'
import { expect, test, vi } from 'vitest'
import { failOverRepeatedly } from '../../faults/failover.ts'
import { Verdict } from '../../faults/script.ts'

test('a primary that is killed under claims is replaced by its standby, and no accepted claim is lost or doubled', async () => {
  vi.spyOn(console, 'log').mockImplementation(() => {})
  const verdict = new Verdict()
  const options = { seed: 44, engine: 'postgres', processes: 1, rounds: 1, scale: 0.1 } as const

  // As if half a minute had passed: claims that were under way at the kill have a lease until then
  await failOverRepeatedly(options, verdict, (db) => endLeases(db))

  expect(verdict.broken).toEqual([])
})
