import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CodeCounts, Event } from './event-queries.ts'
import { assertOpen, closedReason, codesReason, windowOf } from './openness.ts'

const NOW = Date.UTC(2026, 10, 20)
const NO_CODES: CodeCounts = { free: 0, held: 0, used: 0, used_elsewhere: 0, void: 0 }

function event(facts: Partial<Event> = {}): Event {
  return {
    event_id: 90001,
    uuid: '6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11',
    issuer_record: {},
    coordinates: '52,-10',
    enabled: true,
    is_cancelled: false,
    time_zone: null,
    requires_captcha: false,
    requires_presence: true,
    requires_grant: false,
    distribution_start_at_ms: null,
    distribution_end_at_ms: null,
    expires_at_ms: null,
    codes_asked_at_ms: null,
    rehearsal_until_ms: null,
    allows_guests: true,
    created_at_ms: 0,
    updated_at_ms: 0,
    ...facts,
  }
}

test.each([
  [{}, undefined],
  [{ enabled: false, expires_at_ms: NOW }, 'event_disabled'],
  [{ is_cancelled: true, enabled: false, expires_at_ms: NOW }, 'event_cancelled'],
  [{ expires_at_ms: NOW }, 'event_expired'],
  [{ expires_at_ms: NOW + 1 }, undefined],
  [{ distribution_start_at_ms: NOW + 1 }, 'event_not_open'],
  [{ distribution_start_at_ms: NOW }, undefined],
  [{ distribution_end_at_ms: NOW }, 'event_closed'],
  [{ distribution_end_at_ms: NOW + 1 }, undefined],
])('%j: %s', (facts, reason) => {
  expect(closedReason(event(facts), NOW)).toBe(reason)
})

test('a closed event is refused with the same reason as error code', () => {
  fc.assert(
    fc.property(
      fc.boolean(),
      fc.option(fc.integer({ min: NOW - 5, max: NOW + 5 })),
      fc.option(fc.integer({ min: NOW - 5, max: NOW + 5 })),
      (enabled, start, end) => {
        const one = event({ enabled, distribution_start_at_ms: start, distribution_end_at_ms: end })
        const reason = closedReason(one, NOW)
        if (reason === undefined) assertOpen(one, NOW)
        else expect(() => assertOpen(one, NOW)).toThrow(expect.objectContaining({ code: reason }))
      },
    ),
  )
})

test('players read how long it is until the opening or since the end, because their time zone is not known', () => {
  const sentenceOf = (facts: Partial<Event>) => {
    try {
      assertOpen(event(facts), NOW)
      return 'open'
    } catch (error) {
      return (error as Error).message
    }
  }
  const HOUR_MS = 3_600_000

  expect(sentenceOf({ distribution_start_at_ms: NOW + 3 * HOUR_MS })).toBe(
    'This event is not open yet. Come back in 3 hours for your token.',
  )
  expect(sentenceOf({ distribution_end_at_ms: NOW - HOUR_MS / 2 - 7 })).toBe(
    'You are too late: this event gave out tokens until 30 minutes ago.',
  )
})

test('the window ends at the end of distribution or at the expiry, whichever is earlier', () => {
  expect(windowOf(event())).toEqual({ opensAtMs: undefined, closesAtMs: undefined })
  expect(
    windowOf(event({ distribution_start_at_ms: 1, distribution_end_at_ms: 30, expires_at_ms: 20 })),
  ).toEqual({ opensAtMs: 1, closesAtMs: 20 })
})

test('without a free code: no codes loaded, waiting for the issuer, or no codes left', () => {
  expect(codesReason(event(), NO_CODES)).toBe('no_codes_loaded')
  expect(codesReason(event({ codes_asked_at_ms: NOW }), NO_CODES)).toBe('waiting_for_issuer')
  expect(codesReason(event({ codes_asked_at_ms: NOW }), { ...NO_CODES, used_elsewhere: 3 })).toBe(
    'no_codes_left',
  )
  expect(codesReason(event(), { ...NO_CODES, free: 1 })).toBeUndefined()
})
