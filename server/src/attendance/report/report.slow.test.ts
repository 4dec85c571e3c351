import { expect, test, vi } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { testClock } from '../../../test/support/http/land-server.ts'
import { SECOND_MS } from '../../clock.ts'
import { insertClaim } from '../claims/reserve-queries.ts'
import { mergeCodes } from '../codes/code-queries.ts'
import { addBlocked } from '../events/blocked-queries.ts'
import { CodeCountCache } from '../events/code-count-cache.ts'
import { EventHolds } from '../events/event-holds.ts'
import { saveEvent } from '../events/event-queries.ts'
import { Vault } from '../secrets/vault.ts'
import { ServiceState } from '../service-state.ts'
import { Reports } from './report.ts'

describeOnBothEngines('the report of an event', (open) => {
  test('counts claims once a second, however many there are, and shows codes and the block list at once', async () => {
    const { db } = await open()
    const clock = testClock()
    const nowMs = clock.nowMs()
    const steady = vi.spyOn(performance, 'now').mockReturnValue(0)
    const event = await saveEvent(db, {
      eventId: 1,
      record: {},
      coordinates: '3,4',
      expiresAtMs: undefined,
      nowMs,
    })
    const listed = ['a', 'b', 'c'].map((code) => ({ code, isClaimed: false }))
    await mergeCodes(db, new Vault(Buffer.alloc(32, 5)), { eventId: 1, listed, nowMs })
    const codeCounts = new CodeCountCache(db)
    const states = { issuerState: new ServiceState(clock), presenceState: new ServiceState(clock) }
    const unused = {
      refusals: { flush: async () => {} },
      rehearsals: { count: async () => ({ claims: 0, refusals: 0 }) },
      gifts: { count: async () => null },
    }
    const reports = new Reports({
      db,
      clock,
      codeCounts,
      holds: new EventHolds({ db, clock }),
      ...states,
      ...unused,
    })
    const claim = async (address: string) => {
      const made = { eventId: 1, address, nowMs, nextStepAtMs: nowMs }
      await insertClaim(db, made, { request: undefined, wait: false })
      codeCounts.forget(1)
    }
    const reported = async () => {
      const { claims, codes, availability, blocked } = await reports.make(event)
      return [claims.reserved, codes.held, availability.available, blocked]
    }

    await claim('0xann')
    expect(await reported()).toEqual([1, 1, 2, 0])
    await claim('0xben')
    await addBlocked(db, 1, { addresses: ['0xcleo'], nowMs })
    expect(await reported()).toEqual([1, 2, 1, 1])
    reports.forget(1)
    expect(await reported(), 'counted again').toEqual([2, 2, 1, 1])
    await claim('0xcleo')
    expect(await reported()).toEqual([2, 3, 0, 1])
    steady.mockReturnValue(SECOND_MS)
    expect(await reported()).toEqual([3, 3, 0, 1])
    steady.mockRestore()
  })
})
