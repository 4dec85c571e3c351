import { expect, test } from 'vitest'
import { freshEngine } from '../../test/support/engines.ts'
import { testClock } from '../../test/support/land-server.ts'
import { saveEvent } from './events/event-queries.ts'
import { refusalsByCode } from './refusal-queries.ts'
import { Refusals } from './refusals.ts'

const open = freshEngine('postgres')
const EVENT = 90_001

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
