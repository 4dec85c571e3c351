import { LandpassError } from '@landpass/client'
import { describe, expect, test } from 'vitest'
import { makePlaceOf, placeOf, stepWith, takeBackPlaceOf, waitUntilMs } from './refusal-place.ts'
import { isReachable, numberOf, STEPS } from './steps.ts'

const NOW_MS = Date.parse('2026-11-20T00:00:00Z')

describe('the steps of the form', () => {
  test.each([
    [{ hasEvent: false, hasPlaces: false, isRegistered: false }, ['event']],
    [{ hasEvent: true, hasPlaces: false, isRegistered: false }, ['event', 'places']],
    [{ hasEvent: true, hasPlaces: true, isRegistered: false }, ['event', 'places', 'register']],
    [{ hasEvent: true, hasPlaces: true, isRegistered: true }, ['event', 'places', 'register', 'codes']],
    [{ hasEvent: false, hasPlaces: true, isRegistered: true }, ['event']],
  ])('with %j these can be shown: %j', (progress, steps) => {
    expect(STEPS.filter((step) => isReachable(step, progress))).toEqual(steps)
  })

  test('are counted from 1', () => {
    expect(STEPS.map(numberOf)).toEqual([1, 2, 3, 4])
  })
})

describe('a refusal', () => {
  const refusal = (code: string, status = 400, retryAfterS?: number) =>
    new LandpassError('no', { code, status, retryAfterS })

  test.each([
    ['wrong_edit_code', 'edit_code', 'event'],
    ['invalid_coordinates', 'coordinates', 'places'],
    ['invalid_parameter', 'event', 'event'],
    ['issuer_unavailable', 'step', undefined],
    ['too_many_guesses', 'step', undefined],
    ['offline', 'step', undefined],
    ['a_code_of_next_year', 'step', undefined],
  ] as const)('%s is shown at %s', (code, place, step) => {
    expect(placeOf(refusal(code))).toBe(place)
    expect(stepWith(place)).toBe(step)
  })

  test.each([
    ['distribution_start_date', 'first_time', 'take_back'],
    ['distribution_end_date', 'last_time', 'take_back'],
    ['tokens', 'tokens', 'take_back'],
    ['id', 'step', 'token'],
    ['reason', 'step', 'reason'],
  ] as const)(
    'of the parameter %s is shown at %s where an event is made, at %s where a token is taken back',
    (parameter, made, back) => {
      const error = new LandpassError('no', { code: 'invalid_parameter', status: 400, data: { parameter } })

      expect([makePlaceOf(error), takeBackPlaceOf(error)]).toEqual([made, back])
    },
  )

  test.each([
    ['wrong_edit_code', 'edit_code'],
    ['token_not_found', 'token'],
    ['issuer_unavailable', 'take_back'],
  ])('%s is shown at %s where a token is taken back', (code, place) => {
    expect(takeBackPlaceOf(refusal(code))).toBe(place)
  })

  test('says how long to wait, in the server’s seconds; a minute where it names none', () => {
    expect(waitUntilMs(refusal('too_many_guesses', 429, 900), NOW_MS)).toBe(NOW_MS + 900_000)
    expect(waitUntilMs(refusal('too_many_requests', 429), NOW_MS)).toBe(NOW_MS + 60_000)
    expect(waitUntilMs(refusal('issuer_unavailable', 503, 5), NOW_MS)).toBeUndefined()
    expect(waitUntilMs(new TypeError('no'), NOW_MS)).toBeUndefined()
  })
})
