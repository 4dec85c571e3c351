import type { Report } from '@landpass/client'
import { describe, expect, test } from 'vitest'
import { controlsState, isShort, minutesLeft } from './controls-state.ts'

const NOW_MS = Date.UTC(2026, 10, 20, 20, 30, 12)

describe('the state of an event', () => {
  test.each([
    ['open', {}],
    ['before', { reason: 'event_not_open' }],
    ['paused', { reason: 'event_disabled' }],
    ['ended', { reason: 'event_closed' }],
    ['ended', { reason: 'event_cancelled' }],
    ['ended', { reason: 'event_expired' }],
    ['held', { reason: 'event_held' }],
    ['refused', { reason: 'event_refused' }],
    ['waiting', { reason: 'no_codes_loaded' }],
    ['waiting', { reason: 'waiting_for_issuer' }],
    ['given_out', { reason: 'no_codes_left', available: 0 }],
    ['short', { available: 9 }],
    ['issuer_down', { issuer: 'failing' }],
    ['presence_down', { presence: 'failing' }],
  ])('is %s with %j', (state, report) => {
    expect(controlsState(reportOf(report), NOW_MS)).toBe(state)
  })

  test('is what keeps players from a token now, before what slows it down or will soon', () => {
    expect(controlsState(reportOf({ reason: 'event_disabled', presence: 'failing' }), NOW_MS)).toBe('paused')
    expect(controlsState(reportOf({ presence: 'failing', issuer: 'failing' }), NOW_MS)).toBe('presence_down')
    expect(controlsState(reportOf({ issuer: 'failing', available: 1 }), NOW_MS)).toBe('issuer_down')
  })

  test('does not depend on presence where players can claim from anywhere', () => {
    expect(controlsState(reportOf({ presence: 'failing', requires_presence: false }), NOW_MS)).toBe('open')
  })

  test('is that the issuer is down where the report itself cannot be had for that', () => {
    expect(controlsState(reportOf({}), NOW_MS, true)).toBe('issuer_down')
  })
})

describe('tokens run short', () => {
  test('when less than a tenth is left', () => {
    expect(isShort(reportOf({ available: 10 }), NOW_MS)).toBe(false)
    expect(isShort(reportOf({ available: 9 }), NOW_MS)).toBe(true)
  })

  test('when less is left than the last ten minutes took, the current one included', () => {
    const minutes = [
      { minute: '2026-11-20T20:20:00.000Z', claims: 1_000 },
      { minute: '2026-11-20T20:21:00.000Z', claims: 20 },
      { minute: '2026-11-20T20:30:00.000Z', claims: 11 },
    ]

    expect(isShort(reportOf({ available: 31, minutes }), NOW_MS)).toBe(false)
    expect(isShort(reportOf({ available: 30, minutes }), NOW_MS)).toBe(true)
    expect(minutesLeft(reportOf({ available: 30, minutes }), NOW_MS)).toBe(9)
  })

  test('at no pace that could be told while nobody claims', () => {
    expect(minutesLeft(reportOf({ available: 5 }), NOW_MS)).toBeUndefined()
  })
})

interface Facts {
  readonly reason?: string
  readonly available?: number
  readonly issuer?: string
  readonly presence?: string
  readonly requires_presence?: boolean
  readonly minutes?: readonly { minute: string; claims: number }[]
}

/** A report with a hundred tokens: what the state depends on. */
function reportOf(facts: Facts): Report {
  const { reason = null, available = 100, minutes = [], requires_presence = true } = facts
  return {
    event: { requires_presence },
    availability: { reason, available, total: 100 },
    issuer: { status: facts.issuer ?? 'ok', since: null },
    presence: { status: facts.presence ?? 'ok', since: null },
    minutes,
  } as unknown as Report
}
