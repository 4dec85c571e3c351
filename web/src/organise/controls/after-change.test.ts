import type { EventInfo, Report } from '@landpass/client'
import { expect, test } from 'vitest'
import { reportAfter } from './after-change.ts'

const NOW_MS = Date.parse('2026-11-20T18:00:00Z')
const BEFORE_NOW = '2026-11-20T17:00:00.000Z'
const AFTER_NOW = '2026-11-20T19:00:00.000Z'

type Before = Partial<Report['availability']>

const HELD = { kind: 'unknown_codes', answers: 2, held_since: BEFORE_NOW, next_try_at: AFTER_NOW } as const

function reportOf(before: Before, alarms: Report['alarms'] = []): Report {
  const counts = { total: 5, available: 5, claimed: 0 }
  const availability = { open: true, reason: null, ...counts, opens_at: null, closes_at: null, ...before }
  return { event: {}, availability, alarms, rehearsal: { claims: 4, refusals: 2 } } as unknown as Report
}

function after(event: Partial<EventInfo>, before: Before = {}, alarms: Report['alarms'] = []) {
  const unlimited = { distribution_start_date: null, distribution_end_date: null, expiry_date: null }
  const changed = { enabled: true, ...unlimited, ...event } as EventInfo
  return reportAfter(reportOf(before, alarms), changed, {}, NOW_MS).availability
}

test.each<[string, Partial<EventInfo>, Before, string | null]>([
  ['a paused event is paused', { enabled: false }, {}, 'event_disabled'],
  ['resumed, it is open', {}, { reason: 'event_disabled' }, null],
  ['resumed without tokens, none are left', {}, { reason: 'event_disabled', available: 0 }, 'no_codes_left'],
  [
    'resumed before there are any, it waits',
    {},
    { reason: 'event_disabled', available: 0, total: 0 },
    'waiting_for_issuer',
  ],
  ['cancelled, it is that first', { cancelled: true, enabled: false }, {}, 'event_cancelled'],
  ['it opens later', { distribution_start_date: AFTER_NOW }, {}, 'event_not_open'],
  ['it has opened', { distribution_start_date: BEFORE_NOW }, { reason: 'event_not_open' }, null],
  ['it has closed', { distribution_end_date: BEFORE_NOW }, {}, 'event_closed'],
  ['a later end opens it', { distribution_end_date: AFTER_NOW }, { reason: 'event_closed' }, null],
  ['what the issuer holds back stays', {}, { reason: 'event_held' }, 'event_held'],
  ['what the operator has refused stays', { enabled: false }, { reason: 'event_refused' }, 'event_refused'],
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

test('an event that is resumed or opened while the issuer contradicts itself is held', () => {
  const doubted = { ...HELD, answers: 1, held_since: null, next_try_at: null }

  for (const reason of ['event_disabled', 'event_closed', 'event_not_open'] as const) {
    expect(after({}, { reason }, [HELD])).toMatchObject({ open: false, reason: 'event_held' })
    expect(after({}, { reason }, [doubted])).toMatchObject({ open: true })
  }
  expect(after({ enabled: false }, {}, [HELD])).toMatchObject({ reason: 'event_disabled' })
})

test('a rehearsal that begins counts from zero, and every other change leaves the counts', () => {
  const event = { enabled: true } as EventInfo
  const counted = (change: Parameters<typeof reportAfter>[2]) =>
    reportAfter(reportOf({}), event, change, NOW_MS).rehearsal

  expect(counted({ rehearsal_until: AFTER_NOW })).toEqual({ claims: 0, refusals: 0 })
  expect(counted({ rehearsal_until: null })).toEqual({ claims: 4, refusals: 2 })
  expect(counted({})).toEqual({ claims: 4, refusals: 2 })
})
