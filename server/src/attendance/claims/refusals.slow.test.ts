import { expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/database/engines.ts'
import { testClock } from '../../../test/support/http/land-server.ts'
import { saveEvent } from '../events/event-queries.ts'
import { refusalsByCode } from './refusal-queries.ts'
import { Refusals } from './refusals.ts'

const EVENT = 90_001

describeOnBothEngines('counts of refusals', (open) => {
  test('a call of flush waits for the one that is running: the report that called it has all counts', async () => {
    const { db } = await open()
    const clock = testClock()
    const record = { eventId: EVENT, record: { id: EVENT }, coordinates: '0,0' }
    await saveEvent(db, { ...record, expiresAtMs: undefined, nowMs: clock.nowMs() })
    const refusals = new Refusals({ db, clock })
    refusals.add(EVENT, 'not_at_event')

    const byTimer = refusals.flush()
    await refusals.flush()

    expect(await refusalsByCode(db, EVENT)).toEqual([{ code: 'not_at_event', count: 1 }])
    await byTimer
  })

  test('the counts of an event that was deleted meanwhile are left out, those of other events are stored', async () => {
    const { db } = await open()
    const clock = testClock()
    const refusals = new Refusals({ db, clock })
    const other = EVENT + 2
    const record = { eventId: other, record: { id: other }, coordinates: '0,0' }
    await saveEvent(db, { ...record, expiresAtMs: undefined, nowMs: clock.nowMs() })
    const deleted = EVENT + 1
    refusals.add(deleted, 'not_at_event')
    refusals.add(other, 'not_at_event')

    await refusals.flush()

    expect(await refusalsByCode(db, other)).toEqual([{ code: 'not_at_event', count: 1 }])
    expect(await refusalsByCode(db, deleted)).toEqual([])
  })
})
