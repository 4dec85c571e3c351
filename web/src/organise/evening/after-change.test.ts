import type { EventInfo, Report } from '@landpass/client'
import { expect, test } from 'vitest'
import { availabilityAfter } from './after-change.ts'

const NOW_MS = Date.parse('2026-11-20T18:00:00Z')
const BEFORE_NOW = '2026-11-20T17:00:00.000Z'
const AFTER_NOW = '2026-11-20T19:00:00.000Z'

function after(event: Partial<EventInfo>, before: Partial<Report['availability']> = {}) {
  const unlimited = { distribution_start_date: null, distribution_end_date: null, expiry_date: null }
  const counts = {
    open: true,
    reason: null,
    total: 5,
    available: 5,
    claimed: 0,
    opens_at: null,
    closes_at: null,
  }
  return availabilityAfter(
    { enabled: true, ...unlimited, ...event } as EventInfo,
    { ...counts, ...before } as Report['availability'],
    NOW_MS,
  )
}

test.each<[string, Partial<EventInfo>, Partial<Report['availability']>, string | null]>([
  ['a paused event is paused', { enabled: false }, {}, 'event_disabled'],
  ['resumed, it is open', {}, { reason: 'event_disabled' }, null],
  ['resumed without tokens, none are left', {}, { reason: 'event_disabled', available: 0 }, 'no_codes_left'],
  [
    'resumed before there are any, it waits',
    {},
    { reason: 'event_disabled', available: 0, total: 0 },
    'waiting_for_issuer',
  ],
  ['it opens later', { distribution_start_date: AFTER_NOW }, {}, 'event_not_open'],
  ['it has opened', { distribution_start_date: BEFORE_NOW }, { reason: 'event_not_open' }, null],
  ['it has closed', { distribution_end_date: BEFORE_NOW }, {}, 'event_closed'],
  ['a later end opens it', { distribution_end_date: AFTER_NOW }, { reason: 'event_closed' }, null],
  ['what the issuer holds back stays', {}, { reason: 'event_held' }, 'event_held'],
  ['what is over at the issuer stays', {}, { reason: 'event_expired' }, 'event_expired'],
])('%s', (_, event, before, reason) => {
  expect(after(event, before)).toMatchObject({ reason, open: reason === null })
})

test('it closes at the earlier of the closing time and the end of the last day', () => {
  const both = { distribution_end_date: AFTER_NOW, expiry_date: '2026-11-20T18:30:00.000Z' }
  expect(after(both).closes_at).toBe(both.expiry_date)
  expect(after({ ...both, expiry_date: null }).closes_at).toBe(AFTER_NOW)
  expect(after({}).closes_at).toBeNull()
})
