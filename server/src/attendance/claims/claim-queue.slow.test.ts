import { expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { testClock } from '../../../test/support/http/land-server.ts'
import { mergeCodes } from '../codes/code-queries.ts'
import { EventHolds } from '../events/event-holds.ts'
import { saveEvent } from '../events/event-queries.ts'
import { Vault } from '../secrets/vault.ts'
import { ClaimQueue } from './claim-queue.ts'
import { insertClaim } from './reserve-queries.ts'

describeOnBothEngines('the queue of claims', (open) => {
  test('leaves out held events, whose claims wait for the probe', async () => {
    const { db } = await open()
    const clock = testClock()
    const nowMs = clock.nowMs()
    const vault = new Vault(Buffer.alloc(32, 3))
    for (const [eventId, players] of [
      [1, 3],
      [2, 5],
    ] as const) {
      await saveEvent(db, { eventId, record: {}, coordinates: '0,0', expiresAtMs: undefined, nowMs })
      const listed = Array.from({ length: players }, (_, i) => ({
        code: `${eventId}-${i}`,
        isClaimed: false,
      }))
      await mergeCodes(db, vault, { eventId, listed, nowMs })
      for (const { code } of listed) {
        const claim = { eventId, address: `0x${code}`, nowMs, nextStepAtMs: nowMs }
        await insertClaim(db, claim, { request: undefined, wait: true })
      }
    }
    const holds = new EventHolds({ db, clock })
    const about = { eventId: 2, reason: 'unknown_codes' as const, codeId: null, isRepeated: true }
    await holds.contradicted(about, async () => {})

    const queue = new ClaimQueue({ db, clock, holds, pacer: { claimCallsPerSecond: () => 2 } })

    expect(await queue.look(1)).toEqual({ length: 3, waitS: 3 })
    expect(await queue.look(2)).toEqual({ length: 3, waitS: 60 })
  })
})
