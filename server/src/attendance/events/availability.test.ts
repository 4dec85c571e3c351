import fc from 'fast-check'
import { expect, test } from 'vitest'
import { availabilityJson, codeTotals } from './availability.ts'
import type { Event } from './event-queries.ts'

test('that the operator has refused the event counts before all else', () => {
  const event = { enabled: false, expires_at_ms: 1, distribution_end_at_ms: null } as Event
  const counts = { free: 0, held: 0, used: 2, used_elsewhere: 0, void: 3 }
  const reasonOf = (isRefused: boolean) =>
    availabilityJson(event, counts, 5, { isHeld: true, isRefused }).reason

  expect([reasonOf(true), reasonOf(false)]).toEqual(['event_refused', 'event_disabled'])
})

test('codes that the issuer no longer accepts are not counted', () => {
  expect(codeTotals({ free: 5, held: 1, used: 2, used_elsewhere: 3, void: 9 })).toEqual({
    total: 11,
    available: 5,
    claimed: 6,
  })
})

test('every code that counts is either available or claimed', () => {
  const count = fc.nat(100_000)
  const counts = fc.record({ free: count, held: count, used: count, used_elsewhere: count, void: count })

  fc.assert(
    fc.property(counts, (given) => {
      const { total, available, claimed } = codeTotals(given)
      expect(available + claimed).toBe(total)
      expect(codeTotals({ ...given, void: 0 })).toEqual({ total, available, claimed })
    }),
    { seed: 5 },
  )
})
