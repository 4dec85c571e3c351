import { expect, test } from 'vitest'
import { MAX_EVENT_ID, parseEventName, parsePublicEventName } from './event-params.ts'

test('an event is named by the number of the issuer, or by its UUID', () => {
  expect(parseEventName('90001')).toEqual({ eventId: 90001 })
  expect(parseEventName(String(MAX_EVENT_ID))).toEqual({ eventId: MAX_EVENT_ID })
  expect(parseEventName('6B0B6C53-6f5b-4c0e-9b43-2f1d0a7c9e11')).toEqual({
    uuid: '6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11',
  })
})

test.each(['', '-1', '1.5', '1e3', ' 1', '2147483648', '99999999999', 'harbour-lights', '6b0b6c53', '٣'])(
  '%j is refused',
  (text) => {
    for (const parse of [parseEventName, parsePublicEventName])
      expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'invalid_parameter' }))
  },
)

test('what was sent is shown by calls that only read, and withheld by those that take a secret', () => {
  expect(() => parsePublicEventName('abc')).toThrow('event is "abc", but must be the issuer\'s event number')
  expect(() => parseEventName('abc')).toThrow('event is "a string that is not shown", but must be')
})
